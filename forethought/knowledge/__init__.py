"""What has been learned from earlier runs and is read at run time; people review it."""
