package web

import (
	"slices"
	"strings"

	"herald/db/model"
	"herald/views/ui"
)

// commonZones are offered beside those of a page:
// one for each set of rules that agencies meet. Any other IANA name that a
// client or the workspace has is offered with them.
const commonZones = `Pacific/Honolulu America/Anchorage America/Los_Angeles America/Phoenix America/Denver America/Chicago
	America/Mexico_City America/New_York America/Toronto America/Havana America/Bogota America/Lima America/Caracas America/Halifax
	America/Santiago America/St_Johns America/Sao_Paulo America/Argentina/Buenos_Aires Atlantic/Azores Atlantic/Reykjavik
	Europe/Dublin Europe/Lisbon Europe/London Africa/Casablanca Africa/Lagos Europe/Amsterdam Europe/Berlin Europe/Brussels
	Europe/Copenhagen Europe/Madrid Europe/Oslo Europe/Paris Europe/Prague Europe/Rome Europe/Stockholm Europe/Vienna Europe/Warsaw
	Europe/Zurich Africa/Cairo Africa/Johannesburg Europe/Athens Europe/Bucharest Europe/Helsinki Europe/Kyiv Asia/Jerusalem
	Europe/Istanbul Europe/Moscow Africa/Nairobi Asia/Riyadh Asia/Tehran Asia/Dubai Asia/Kabul Asia/Karachi Asia/Kolkata
	Asia/Kathmandu Asia/Dhaka Asia/Yangon Asia/Bangkok Asia/Ho_Chi_Minh Asia/Jakarta Asia/Hong_Kong Asia/Manila Asia/Shanghai
	Asia/Singapore Asia/Taipei Australia/Perth Asia/Seoul Asia/Tokyo Australia/Adelaide Australia/Brisbane Australia/Melbourne
	Australia/Sydney Australia/Lord_Howe Pacific/Noumea Pacific/Auckland Pacific/Fiji Pacific/Apia`

// ZoneChoices are the choices of a time zone: near ones first, each once, then one
// for each set of rules, by region.
func ZoneChoices(current string, all ...string) (near []ui.Option, more []ui.OptionGroup) {
	var first []string
	for _, zone := range all {
		if _, err := model.LoadZone(zone); err == nil && !slices.Contains(first, zone) {
			first = append(first, zone)
			near = append(near, ui.Option{Value: zone, Label: zoneLabel(zone), Chosen: zone == current})
		}
	}
	groups := map[string][]ui.Option{}
	for _, zone := range strings.Fields(commonZones) {
		if region, _, _ := strings.Cut(zone, "/"); !slices.Contains(first, zone) {
			groups[region] = append(groups[region], ui.Option{Value: zone, Label: City(zone)})
		}
	}
	for _, region := range []string{"Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Pacific"} {
		slices.SortFunc(groups[region], func(a, b ui.Option) int { return strings.Compare(a.Label, b.Label) })
		more = append(more, ui.OptionGroup{Label: region, Options: groups[region]})
	}
	return near, more
}

func zoneLabel(zone string) string {
	region, _, _ := strings.Cut(zone, "/")
	if city := City(zone); city != zone {
		return city + " (" + region + ")"
	}
	return zone
}

// City is how people call a zone: "Buenos Aires".
func City(zone string) string {
	return strings.ReplaceAll(zone[strings.LastIndex(zone, "/")+1:], "_", " ")
}
