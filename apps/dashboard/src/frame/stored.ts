/** Settings of this browser. A browser may refuse to store: then a setting lasts as long as the page. */
const PREFIX = 'sandyard.'

export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined
  } catch {
    return undefined
  }
}

export function writeStored(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value)
  } catch {
    // Private windows, full storage.
  }
}

/** Undefined when there is none, or something else than JSON. The caller checks the shape. */
export function readStoredJson(name: string): unknown {
  const text = readStored(name)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
