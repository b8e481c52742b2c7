import { CATALOG, type CatalogServer, type Settings } from './catalog.ts'

/** A repository of github.com with a server over stdio. */
export interface GithubServer {
  readonly registry: 'github'
  readonly repository: string
  readonly installCommand: string
  readonly runCommand: string
}

/** One entry of the configuration, checked. */
export interface ConfiguredServer {
  readonly name: string
  readonly source: CatalogServer | GithubServer
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

const GITHUB = /^github\/(\w[\w-]*\/[\w.-]+)$/
const MAX_SERVERS = 32

/** @throws Error with one sentence for the first entry that cannot be served */
export function toServers(json: string): ConfiguredServer[] {
  const entries = Object.entries(toObject(parse(json), 'the configuration'))
  if (entries.length > MAX_SERVERS)
    throw new Error(`the configuration has ${entries.length} servers, and the gateway serves ${MAX_SERVERS} at most`)
  return entries.map(([name, settings]) => toServer(name, toObject(settings ?? {}, `the configuration of the server "${name}"`)))
}

/** The package or repository of a name without its settings, as `pull` gets it. @throws Error with a sentence */
export function findSource(name: string): CatalogServer | GithubServer {
  const repository = GITHUB.exec(name)?.[1]
  if (repository !== undefined && !repository.split('/').some((part) => /^\.+$/.test(part))) {
    return { registry: 'github', repository, installCommand: '', runCommand: '' }
  }
  const server = Object.hasOwn(CATALOG, name) ? CATALOG[name] : undefined
  if (server !== undefined) return server
  throw new Error(
    `the server "${name}" is not a package of npm or PyPI that this gateway knows: servers that are container images cannot run in a sandbox. It serves ${Object.keys(CATALOG).join(', ')} and github/<owner>/<repository>`,
  )
}

function toServer(name: string, settings: Settings): ConfiguredServer {
  const source = findSource(name)
  if (source.registry === 'github') return toGithubServer(name, source, settings)
  for (const key of source.required ?? []) {
    if (settings[key] === undefined || settings[key] === '') throw new Error(`the server "${name}" needs the setting "${key}"`)
  }
  const { paths } = settings
  if (paths !== undefined && !(Array.isArray(paths) && paths.every((path) => typeof path === 'string'))) {
    throw new Error(`the setting "paths" of the server "${name}" is not a list of texts`)
  }
  const environment = Object.entries(source.environment ?? {}).flatMap(([key, variable]) => {
    const value = settings[key]
    return value === undefined || value === null ? [] : [[variable, toText(value)] as const]
  })
  return { name, source, arguments: source.arguments?.(settings) ?? [], environment: Object.fromEntries(environment) }
}

function toGithubServer(name: string, source: GithubServer, settings: Settings): ConfiguredServer {
  const { runCmd, installCmd = '', envs = {} } = settings
  if (typeof runCmd !== 'string' || runCmd === '') throw new Error(`the server "${name}" needs the setting "runCmd"`)
  if (typeof installCmd !== 'string') throw new Error(`the setting "installCmd" of the server "${name}" is not a text`)
  const environment = Object.entries(toObject(envs, `the setting "envs" of the server "${name}"`)).map(([key, value]) => [
    key,
    toText(value),
  ])
  return {
    name,
    source: { ...source, installCommand: installCmd, runCommand: runCmd },
    arguments: [],
    environment: Object.fromEntries(environment) as Record<string, string>,
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new Error('the configuration is not JSON')
  }
}

function toObject(value: unknown, what: string): Settings {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} is not an object`)
  return value as Settings
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
