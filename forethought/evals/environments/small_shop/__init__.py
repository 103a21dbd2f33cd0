"""A small shop of our own: made-up products, WebShop's actions, its kind of pages and its reward."""
