"""Sphinx: the handbook out of build/docs/source, where docs/generate.py puts the written and the generated pages."""
project = 'Palladion'
copyright = 'the Palladion authors, Apache-2.0'
extensions = ['myst_parser']
myst_enable_extensions = ['colon_fence', 'dollarmath', 'deflist']
myst_heading_anchors = 3
source_suffix = {'.md': 'markdown'}
exclude_patterns = []
html_theme = 'furo'
html_title = 'Palladion'
html_static_path = []
html_show_sourcelink = False
html_copy_source = False
highlight_language = 'none'
nitpicky = True
suppress_warnings = ['myst.header']
