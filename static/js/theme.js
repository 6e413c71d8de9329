// Runs before the first paint, so that a chosen appearance does not flash, and
// says that script is there. It is the only file here that is not a module.
document.documentElement.dataset.script = ""
try {
  const chosen = localStorage.getItem("herald-theme")
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen
} catch {
  // storage is closed to us: the page follows the system
}
