export const MIB = 1024 ** 2
export const GIB = 1024 ** 3

/** `12.5 GiB`, `800 MiB`. */
export function showBytes(bytes: number): string {
  return bytes >= GIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${Math.round(bytes / MIB)} MiB`
}

export function showPercent(share: number): string {
  return `${Math.floor(share * 100)} %`
}
