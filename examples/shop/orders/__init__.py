"""Orders: from the catalog to the receipt."""
