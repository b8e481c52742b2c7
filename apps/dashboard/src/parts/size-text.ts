const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `512 B`, `1.5 KiB`, `12 MiB`. */
export function sizeText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}
