"""Documents as Markdown: one module a format, each giving a `Document` of sections (sheets, pages, slides).

What a plan may hang on is marked where it is: tracked changes, comments, what is struck or hidden. Few
libraries keep that, so the readers parse Word, OpenDocument, RTF and the cells of workbooks themselves. The
rest of a workbook goes through openpyxl, old ones through xlrd and calamine, slides through python-pptx, PDFs
through pypdfium2, web pages and e-books through markdownify. LibreOffice converts .doc and .ppt if it is
installed. Files in messages, archives and documents become files of their own (`members`).
"""
