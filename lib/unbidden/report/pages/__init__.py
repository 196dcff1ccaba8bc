"""Pages of reference that the library writes: the module map, packages, schemas, faults tried."""
