/**
 * The default seccomp profile of engines that Sandyard starts or installs. It is for the containers that bring no profile of their own: the
 * RUN steps of Dockerfiles, because the builder takes none.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SECCOMP_FILE, SECCOMP_JSON } from '@sandyard/runtime-docker/seccomp/seccomp-profile'
import { MACHINE_ENGINE } from './owned-dockerd.ts'

/** The engine reads it by itself. It refuses to start when an option is both here and among its arguments. */
const CONFIG_FILE = '/etc/docker/daemon.json'
const OPTION = 'seccomp-profile'
/** The file of any version of the profile. */
const OWN_FILE = /^sandyard-seccomp-[0-9a-f]{12}\.json$/

/** The processors for which there is a profile. */
const PROFILED: readonly string[] = ['x64', 'arm64']

export interface ProfilePlace {
  /** Where the profile is written. */
  readonly folder: string
  readonly configFile: string
}

/** The arguments of a dockerd with the profile, which is written first. None where its configuration names a profile. */
export function profileArguments({ folder, configFile }: ProfilePlace = place(dirname(MACHINE_ENGINE.recordFile))): string[] {
  if (!PROFILED.includes(process.arch)) return []
  const config = readConfig(configFile)
  if (config === undefined) return []
  const named = config[OPTION]
  if (named === undefined) return [`--${OPTION}`, writeProfile(folder, 0o700)]
  if (typeof named === 'string' && OWN_FILE.test(basename(named)))
    writeConfig(configFile, { ...config, [OPTION]: writeProfile(dirname(named)) })
  return []
}

/**
 * Writes the configuration of an engine that will be installed: its package, or a service manager, starts it. A configuration that exists
 * stays.
 */
export function configureProfile({ folder, configFile }: ProfilePlace = place(dirname(CONFIG_FILE))): void {
  if (!PROFILED.includes(process.arch) || existsSync(configFile)) return
  writeConfig(configFile, { [OPTION]: writeProfile(folder) })
}

function place(folder: string): ProfilePlace {
  return { folder, configFile: CONFIG_FILE }
}

function writeProfile(folder: string, mode = 0o755): string {
  mkdirSync(folder, { recursive: true, mode })
  const file = join(folder, SECCOMP_FILE)
  writeFileSync(file, SECCOMP_JSON)
  return file
}

type EngineConfig = Readonly<Record<string, unknown>>

/** Empty when there is none; undefined for a file that cannot be read, which the engine will report. */
function readConfig(configFile: string): EngineConfig | undefined {
  if (!existsSync(configFile)) return {}
  try {
    const config: unknown = JSON.parse(readFileSync(configFile, 'utf8'))
    return typeof config === 'object' && config !== null ? (config as EngineConfig) : undefined
  } catch {
    return undefined
  }
}

function writeConfig(configFile: string, config: EngineConfig): void {
  writeFileSync(`${configFile}.new`, `${JSON.stringify(config, undefined, 2)}\n`)
  renameSync(`${configFile}.new`, configFile)
}
