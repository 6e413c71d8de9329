// What somebody drags from their desktop onto a page.

export const holdsFiles = (e) => e.dataTransfer?.types.includes("Files") ?? false

// filesOf are the files of a drop, those in folders too.
export async function filesOf(transfer) {
  const entries = [...transfer.items].map((i) => i.webkitGetAsEntry?.()).filter(Boolean)
  if (!entries.some((e) => e.isDirectory)) return [...transfer.files]
  const found = []
  const walk = async (entry) => {
    if (entry.isFile) found.push(await new Promise((done, no) => entry.file(done, no)))
    if (!entry.isDirectory) return
    const reader = entry.createReader()
    for (;;) {
      const some = await new Promise((done, no) => reader.readEntries(done, no))
      if (some.length === 0) return
      for (const one of some) await walk(one)
    }
  }
  for (const entry of entries) await walk(entry)
  return found.filter((f) => !f.name.startsWith("."))
}
