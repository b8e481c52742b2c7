/** In milliseconds, the smallest first. */
export const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
/** In bytes, the smallest first. */
export const SIZE_UNITS: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

function parseUnits(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d+)([A-Za-z]+)$/.exec(text.trim())
  const factor = match?.[2] === undefined ? undefined : units[match[2]]
  return match === null || factor === undefined ? undefined : Number(match[1]) * factor
}

/** `"30s"` to 30000. Units: `ms`, `s`, `m`, `h`. Undefined when the text is not a duration. */
export function parseDurationMs(text: string): number | undefined {
  return parseUnits(text, DURATION_UNITS)
}

/** `"512MiB"` to bytes. Units: `B`, `KiB`, `MiB`, `GiB`. Undefined when the text is not a size. */
export function parseSizeBytes(text: string): number | undefined {
  return parseUnits(text, SIZE_UNITS)
}
