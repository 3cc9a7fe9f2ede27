package migrations

import "catalogue/internal/changes"

// All are the migrations of the catalogue, in order. A number that is given away stays so.
func All(kinds []changes.Imported, fields Fields, rewriter Rewriter) []Migration {
	return []Migration{
		stamps(kinds),
		validators(fields),
		strayTypes(fields, rewriter),
	}
}
