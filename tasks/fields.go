package tasks

import (
	"catalogue/internal/rules"
	"catalogue/querybuilder"
)

// Fields are what tasks may be filtered by.
func Fields() querybuilder.Schema {
	return querybuilder.Schema{
		Search: []string{"title"},
		Fields: []querybuilder.Field{
			{Name: "title", Label: "Title", Kind: querybuilder.String, FoldCase: true},
			{Name: "description", Label: "Description", Kind: querybuilder.String},
			{
				Name: "status", Label: "Status", Kind: querybuilder.Enum,
				Values: rules.OneOf[Task]("status"),
			},
			{Name: "priority", Label: "Priority", Kind: querybuilder.Number, Integer: true},
			{Name: "type", Label: "Type", Kind: querybuilder.String},
			{Name: "mode", Label: "Mode", Kind: querybuilder.Enum, Values: rules.OneOf[Task]("mode")},
			{Name: "creative_id", Label: "Creative", Kind: querybuilder.ID},
			{Name: "assignee", Label: "Assignee", Kind: querybuilder.String},
			{Name: "created_by", Label: "Created by", Kind: querybuilder.String},
			{Name: "created_at", Label: "Created", Kind: querybuilder.Date},
			{Name: "updated_at", Label: "Updated", Kind: querybuilder.Date},
			{Name: "due_at", Label: "Due", Kind: querybuilder.Date},
			{Name: "closed_at", Label: "Closed", Kind: querybuilder.Date},
		},
	}
}
