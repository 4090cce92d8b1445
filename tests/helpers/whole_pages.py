"""The page with every bound and the pages of the papers, made once in a process of tests."""

from functools import cache

from pages import theorems

from suffice.explorer.content import content
from suffice.explorer.page import page

whole_content = cache(content)
whole_page = cache(lambda: page(whole_content()))
paper_pages = cache(theorems.pages)
