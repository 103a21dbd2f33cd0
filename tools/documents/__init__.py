"""Documents as Markdown: one module a format, each giving a `Document` of sections (sheets, pages, slides).

Word documents and presentations are read through `unstructured`. Its other readers lose what a plan may
hang on, so these formats go another way: workbooks through openpyxl and xlrd (hidden sheets, formulas,
merged cells, comments, dates and numbers as written), web pages through markdownify (row spans, definition
lists, links), e-books chapter by chapter as web pages, PDFs through pypdfium2 (unstructured needs a vision
model for them); Markdown, CSV, XML and plain text need no reader but a decoder. Of an archive there is only a
listing.
"""
