package holiday

import (
	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/ar"
	"github.com/rickar/cal/v2/at"
	"github.com/rickar/cal/v2/au"
	"github.com/rickar/cal/v2/be"
	"github.com/rickar/cal/v2/bg"
	"github.com/rickar/cal/v2/br"
	"github.com/rickar/cal/v2/ca"
	"github.com/rickar/cal/v2/ch"
	"github.com/rickar/cal/v2/cz"
	"github.com/rickar/cal/v2/de"
	"github.com/rickar/cal/v2/dk"
	"github.com/rickar/cal/v2/es"
	"github.com/rickar/cal/v2/fr"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/gr"
	"github.com/rickar/cal/v2/hr"
	"github.com/rickar/cal/v2/ie"
	"github.com/rickar/cal/v2/it"
	"github.com/rickar/cal/v2/jp"
	"github.com/rickar/cal/v2/lt"
	"github.com/rickar/cal/v2/lv"
	"github.com/rickar/cal/v2/mw"
	"github.com/rickar/cal/v2/nc"
	"github.com/rickar/cal/v2/nl"
	"github.com/rickar/cal/v2/no"
	"github.com/rickar/cal/v2/nz"
	"github.com/rickar/cal/v2/pl"
	"github.com/rickar/cal/v2/ro"
	"github.com/rickar/cal/v2/ru"
	"github.com/rickar/cal/v2/se"
	"github.com/rickar/cal/v2/si"
	"github.com/rickar/cal/v2/sk"
	"github.com/rickar/cal/v2/ua"
	"github.com/rickar/cal/v2/us"
	"github.com/rickar/cal/v2/za"
)

// region is a Region with its rules.
type region struct {
	Region
	rules []*cal.Holiday
}

var regions = []region{
	{Region{"AR", "Argentina"}, ar.Holidays},
	{Region{"AT", "Austria"}, at.Holidays},
	{Region{"AU-ACT", "Australia, Capital Territory"}, au.HolidaysACT},
	{Region{"AU-NSW", "Australia, New South Wales"}, au.HolidaysNSW},
	{Region{"AU-NT", "Australia, Northern Territory"}, au.HolidaysNT},
	{Region{"AU-QLD", "Australia, Queensland"}, au.HolidaysQLD},
	{Region{"AU-SA", "Australia, South Australia"}, au.HolidaysSA},
	{Region{"AU-TAS", "Australia, Tasmania"}, au.HolidaysTAS},
	{Region{"AU-VIC", "Australia, Victoria"}, au.HolidaysVIC},
	{Region{"AU-WA", "Australia, Western Australia"}, au.HolidaysWA},
	{Region{"BE", "Belgium"}, be.Holidays},
	{Region{"BG", "Bulgaria"}, bg.Holidays},
	{Region{"BR", "Brazil"}, br.Holidays},
	{Region{"CA", "Canada"}, ca.Holidays},
	{Region{"CH", "Switzerland"}, ch.Holidays},
	{Region{"CH-ZH", "Switzerland, Zürich"}, ch.HolidaysZH},
	{Region{"CH-BE", "Switzerland, Bern"}, ch.HolidaysBE},
	{Region{"CH-LU", "Switzerland, Lucerne"}, ch.HolidaysLU},
	{Region{"CH-UR", "Switzerland, Uri"}, ch.HolidaysUR},
	{Region{"CH-SZ", "Switzerland, Schwyz"}, ch.HolidaysSZ},
	{Region{"CH-OW", "Switzerland, Obwalden"}, ch.HolidaysOW},
	{Region{"CH-NW", "Switzerland, Nidwalden"}, ch.HolidaysNW},
	{Region{"CH-GL", "Switzerland, Glarus"}, ch.HolidaysGL},
	{Region{"CH-ZG", "Switzerland, Zug"}, ch.HolidaysZG},
	{Region{"CH-FR", "Switzerland, Fribourg"}, ch.HolidaysFR},
	{Region{"CH-SO", "Switzerland, Solothurn"}, ch.HolidaysSO},
	{Region{"CH-BS", "Switzerland, Basel-Stadt"}, ch.HolidaysBS},
	{Region{"CH-BL", "Switzerland, Basel-Landschaft"}, ch.HolidaysBL},
	{Region{"CH-SH", "Switzerland, Schaffhausen"}, ch.HolidaysSH},
	{Region{"CH-AR", "Switzerland, Appenzell Ausserrhoden"}, ch.HolidaysAR},
	{Region{"CH-AI", "Switzerland, Appenzell Innerrhoden"}, ch.HolidaysAI},
	{Region{"CH-SG", "Switzerland, St. Gallen"}, ch.HolidaysSG},
	{Region{"CH-GR", "Switzerland, Graubünden"}, ch.HolidaysGR},
	{Region{"CH-AG", "Switzerland, Aargau"}, ch.HolidaysAG},
	{Region{"CH-TG", "Switzerland, Thurgau"}, ch.HolidaysTG},
	{Region{"CH-VD", "Switzerland, Vaud"}, ch.HolidaysVD},
	{Region{"CH-TI", "Switzerland, Ticino"}, ch.HolidaysTI},
	{Region{"CH-VS", "Switzerland, Valais"}, ch.HolidaysVS},
	{Region{"CH-NE", "Switzerland, Neuchâtel"}, ch.HolidaysNE},
	{Region{"CH-GE", "Switzerland, Geneva"}, ch.HolidaysGE},
	{Region{"CH-JU", "Switzerland, Jura"}, ch.HolidaysJU},
	{Region{"CZ", "Czechia"}, cz.Holidays},
	{Region{"DE", "Germany"}, de.Holidays},
	{Region{"DE-BW", "Germany, Baden-Württemberg"}, de.HolidaysBW},
	{Region{"DE-BY", "Germany, Bavaria"}, de.HolidaysBY},
	{Region{"DE-BE", "Germany, Berlin"}, de.HolidaysBE},
	{Region{"DE-BB", "Germany, Brandenburg"}, de.HolidaysBB},
	{Region{"DE-HB", "Germany, Bremen"}, de.HolidaysHB},
	{Region{"DE-HH", "Germany, Hamburg"}, de.HolidaysHH},
	{Region{"DE-HE", "Germany, Hesse"}, de.HolidaysHE},
	{Region{"DE-MV", "Germany, Mecklenburg-Vorpommern"}, de.HolidaysMV},
	{Region{"DE-NI", "Germany, Lower Saxony"}, de.HolidaysNI},
	{Region{"DE-NW", "Germany, North Rhine-Westphalia"}, de.HolidaysNW},
	{Region{"DE-RP", "Germany, Rhineland-Palatinate"}, de.HolidaysRP},
	{Region{"DE-SL", "Germany, Saarland"}, de.HolidaysSL},
	{Region{"DE-SN", "Germany, Saxony"}, de.HolidaysSN},
	{Region{"DE-ST", "Germany, Saxony-Anhalt"}, de.HolidaysST},
	{Region{"DE-SH", "Germany, Schleswig-Holstein"}, de.HolidaysSH},
	{Region{"DE-TH", "Germany, Thuringia"}, de.HolidaysTH},
	{Region{"DK", "Denmark"}, dk.Holidays},
	{Region{"ES", "Spain"}, es.Holidays},
	{Region{"FR", "France"}, fr.Holidays},
	{Region{"GB", "United Kingdom"}, gb.Holidays},
	{Region{"GR", "Greece"}, gr.Holidays},
	{Region{"HR", "Croatia"}, hr.Holidays},
	{Region{"IE", "Ireland"}, ie.Holidays},
	{Region{"IT", "Italy"}, it.Holidays},
	{Region{"JP", "Japan"}, jp.Holidays},
	{Region{"LT", "Lithuania"}, lt.Holidays},
	{Region{"LV", "Latvia"}, lv.Holidays},
	{Region{"MW", "Malawi"}, mw.Holidays},
	{Region{"NC", "New Caledonia"}, nc.Holidays},
	{Region{"NL", "Netherlands"}, nl.Holidays},
	{Region{"NO", "Norway"}, no.Holidays},
	{Region{"NZ", "New Zealand"}, nz.Holidays},
	{Region{"PL", "Poland"}, pl.Holidays},
	{Region{"RO", "Romania"}, ro.Holidays},
	{Region{"RU", "Russia"}, ru.Holidays},
	{Region{"SE", "Sweden"}, se.Holidays},
	{Region{"SI", "Slovenia"}, si.Holidays},
	{Region{"SK", "Slovakia"}, sk.Holidays},
	{Region{"UA", "Ukraine"}, ua.Holidays},
	{Region{"US", "United States"}, us.Holidays},
	{Region{"ZA", "South Africa"}, za.Holidays},
}
