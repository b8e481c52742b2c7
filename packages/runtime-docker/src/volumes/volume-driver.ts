/** How the engine makes the volumes of users. */
export interface VolumeDriver {
  /** `local`, or a plugin of the engine. */
  readonly name: string
  /** Its options; `{volume}` in a value becomes the engine's name of the volume. */
  readonly options: Readonly<Record<string, string>>
}

export const LOCAL_DRIVER: VolumeDriver = { name: 'local', options: {} }

/** As the engine takes it. */
export interface DriverConfig {
  readonly Name: string
  readonly Options: Record<string, string>
}

const PLACE = '{volume}'
const OPTION = /^[A-Za-z0-9_.-]{1,64}=/
const MAX_OPTIONS = 32

export function driverConfig({ name, options }: VolumeDriver, volume: string): DriverConfig {
  return { Name: name, Options: Object.fromEntries(Object.entries(options).map(([key, value]) => [key, value.replaceAll(PLACE, volume)])) }
}

/**
 * The place above the directories of all volumes. The driver `local` mounts directories and does not make or remove them. Undefined where the engine or a plugin
 * does that.
 *
 * @param directory what stands for the directory of a volume
 */
export function placeAbove({ name, options }: VolumeDriver, directory = PLACE): DriverConfig | undefined {
  const { device } = options
  if (name !== LOCAL_DRIVER.name || device?.endsWith(`/${directory}`) !== true) return undefined
  return { Name: name, Options: { ...options, device: device.slice(0, -`/${directory}`.length) } }
}

/** `key=value;key=value`. @throws Error whose message continues a sentence and quotes no value */
export function readDriverOptions(text: string): Readonly<Record<string, string>> {
  const parts = text
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  if (parts.length > MAX_OPTIONS) throw new Error(`has more than ${MAX_OPTIONS} options`)
  if (!parts.every((part) => OPTION.test(part))) throw new Error('must be options as key=value, separated by semicolons')
  return Object.fromEntries(parts.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]))
}

/** What is wrong with a driver: two volumes must never be one directory. Undefined when nothing is. */
export function findDriverProblem({ name, options }: VolumeDriver): string | undefined {
  if (!/^[A-Za-z0-9][\w./:-]{0,127}$/.test(name)) return 'SANDYARD_VOLUME_DRIVER is not the name of a volume driver'
  const { type, device } = options
  if (name !== LOCAL_DRIVER.name || type === 'tmpfs' || Object.keys(options).length === 0) return undefined
  const above = device?.endsWith(`/${PLACE}`) === true ? device.slice(0, -`/${PLACE}`.length) : ''
  if (above === '' || above.includes(PLACE)) {
    return `SANDYARD_VOLUME_DRIVER_OPTIONS needs a device that ends with /${PLACE}, below a directory: each volume is a directory of its own`
  }
  return undefined
}
