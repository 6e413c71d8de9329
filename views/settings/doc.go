// Package settings draws what an agency sets up: the workspace, its members and
// clients, a person's own profile, and the parts that all screens are made of. Frame
// puts any of them beside the list of all. Start with frame.templ.
package settings
