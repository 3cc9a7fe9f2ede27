package listing

import (
	"slices"

	"catalogue/internal/problem"
)

// mistakes collects what is wrong with a question.
type mistakes struct {
	vocabulary vocabulary
	list       []problem.FieldError
}

func (m *mistakes) add(e *problem.FieldError) {
	if e != nil {
		m.list = append(m.list, *e)
	}
}

func (m *mistakes) addAll(list []problem.FieldError) { m.list = append(m.list, list...) }

// err is one problem with all mistakes in the order of the documentation, or nil.
func (m *mistakes) err() error {
	slices.SortStableFunc(m.list, func(a, b problem.FieldError) int { return m.rank(a) - m.rank(b) })
	return problem.Invalid(m.list)
}

// rank puts mistakes inside a filter, whose paths are no parameters, where the filter stands.
func (m *mistakes) rank(e problem.FieldError) int {
	if rank := m.vocabulary.rank(e.Field); rank <= len(m.vocabulary.plain) || e.Code == problem.ParameterUnknown {
		return rank
	}
	return m.vocabulary.rank(paramFilter)
}
