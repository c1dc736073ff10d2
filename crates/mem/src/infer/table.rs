/// Counted by the bench `memories`; not to be edited.
const TABLE: Table = [[[(0, 0); RANGES]; Class::ALL.len()]; REGIMES];
