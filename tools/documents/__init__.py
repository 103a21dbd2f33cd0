"""Documents as Markdown: one module a format, each giving a `Document` of sections (sheets, pages, slides).

Marks show tracked changes, comments, and struck or hidden text in their places. Few libraries keep these, so
the readers parse Word, OpenDocument and the cells of workbooks themselves. openpyxl reads the rest of a
workbook, xlrd and calamine old ones, python-pptx slides, pypdfium2 PDFs, striprtf RTF, markdownify web pages
and e-books. `unstructured` converts .doc and .ppt with LibreOffice, if that is installed. Files in messages,
archives and documents become files of their own (`members`).
"""
