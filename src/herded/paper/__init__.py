"""The experiments of Bornn et al. (2013), one module each, and the page that shows them."""
