"""Documents as Markdown: one module a format, each giving a `Document` of sections (sheets, pages, slides).

What a plan may hang on is marked where it is: tracked changes, comments, what is struck or hidden. Few
libraries keep that, so the readers parse Word, OpenDocument and RTF themselves. Workbooks go through openpyxl
and xlrd, slides through python-pptx, PDFs through pypdfium2, web pages and e-books through markdownify.
`unstructured` converts .doc and .ppt with LibreOffice, if that is installed.
"""
