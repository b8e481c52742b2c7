export interface Flags {
  readonly port: number
  /** Our own: upstream has none and listens on every address. */
  readonly host: string
  readonly version: boolean
  readonly commit: boolean
}

/**
 * Flags of the upstream daemon (envd.md 1.2) that mean nothing in a container, with whether a value follows. `instance` is our own: `/init` reads
 * it in the instance file, since a daemon that was restored from an image of memory has the arguments of the image.
 */
const IGNORED: Readonly<Record<string, boolean>> = {
  isnotfc: false,
  'no-cgroups': false,
  verbose: false,
  'cgroup-root': true,
  instance: true,
}

export class FlagError extends Error {
  override readonly name = 'FlagError'
}

/**
 * Reads flags in Go's spelling: one dash or two, the value after `=` or as the next argument, switches also as `-name=false`.
 *
 * @throws FlagError for an unknown flag or a bad value
 */
export function parseFlags(args: readonly string[]): Flags {
  const flags = { port: 49_983, host: '0.0.0.0', version: false, commit: false }
  const rest = [...args]
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const [, name, given] = /^--?([^-=][^=]*)(?:=(.*))?$/.exec(argument) ?? []
    if (name === 'port') flags.port = readPort(given ?? rest.shift())
    else if (name === 'host') flags.host = given ?? rest.shift() ?? flags.host
    else if (name === 'version' || name === 'commit') flags[name] = given !== 'false'
    else if (name === undefined || IGNORED[name] === undefined) throw new FlagError(`flag provided but not defined: ${argument}`)
    else if (IGNORED[name] && given === undefined) rest.shift()
  }
  return flags
}

function readPort(text: string | undefined): number {
  const port = Number(text)
  if (text === undefined || !/^\d{1,5}$/.test(text) || port > 65_535) throw new FlagError(`invalid value for flag -port: ${text ?? ''}`)
  return port
}
