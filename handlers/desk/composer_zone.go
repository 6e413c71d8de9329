package desk

import (
	"slices"

	"herald/handlers/web"
	"herald/views/ui"
)

// zones are the choices of a time zone: those of the post first.
func (e *editing) zones(current string) (near []ui.Option, more []ui.OptionGroup) {
	var first []string
	for _, c := range e.clients {
		if slices.Contains(e.chosenClients(), c.ID) {
			first = append(first, c.Zone)
		}
	}
	return web.ZoneChoices(current, append(first, e.scope.Workspace.Zone, current, "UTC")...)
}
