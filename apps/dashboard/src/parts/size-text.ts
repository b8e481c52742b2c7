const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `512 B`, `1.5 KiB`, `1 GiB`, `12 MiB`. */
export function sizeText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 || value >= 10 ? Math.round(value) : Number(value.toFixed(1))} ${UNITS[unit]}`
}

const MIB = 1024 ** 2

/** The size of a sandbox or template: `2 CPU · 1 GiB memory · 10 GiB disk`. */
export function machineText({ cpuCount, memoryMib, diskMib }: MachineSize): string {
  return `${cpuCount} CPU · ${sizeText(memoryMib * MIB)} memory · ${sizeText(diskMib * MIB)} disk`
}

interface MachineSize {
  readonly cpuCount: number
  readonly memoryMib: number
  readonly diskMib: number
}
