"""WebShop (Yao et al. 2022): its pages over HTTP, and its reward."""
