"""The Sphinx extension: roles, directives, generated pages."""
