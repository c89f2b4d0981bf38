"""Node: what leaves biasbounty is run there as well."""
