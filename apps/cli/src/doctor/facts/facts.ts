import { getCACertificates } from 'node:tls'
import { describeDataDirectory } from '@sandyard/api/program/data/data-directory'
import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { readKeyRing } from '../../read-key-ring.ts'
import type { Environment } from '@sandyard/kit/config/parse-config'
import { DatabaseReader } from './database-reader.ts'
import { readDoctorSettings, type DoctorSettings } from './doctor-settings.ts'
import { EngineReader } from './engine-reader.ts'
import { HostReader } from './host-reader.ts'
import { MACHINE, type Machine } from './machine.ts'
import { SandboxReader } from './sandbox-reader.ts'
import { ServerReader, type ServerAddresses } from './server-reader.ts'
import { Unreadable } from './unreadable.ts'

/** Everything that checks read. Each fact is read when the first check asks for it, and once. */
export interface Facts extends AsyncDisposable {
  readonly settings: DoctorSettings
  readonly isDeep: boolean
  readonly engine: EngineReader
  readonly host: HostReader
  readonly database: DatabaseReader
  readonly servers: ServerReader
  readonly machine: Machine
  /** The keys of secrets that programs with these settings have; undefined without one. @throws ConfigError */
  readonly keyRing: () => Promise<KeyRing | undefined>
  /** A sandbox of the check's own; only with `isDeep`. */
  readonly sandboxes: SandboxReader
  /** The authorities that certificates are checked with, in PEM: the public ones and those of SANDYARD_EXTRA_CA. */
  readonly authorities: readonly string[]
  /** How long the slow answer of T2 takes. */
  readonly slowAnswerMs: number
}

/** Longer than the 60 s after which many servers in front cut an answer. */
const SLOW_ANSWER_MS = 70_000

export interface FactsOptions {
  readonly environment: Environment
  readonly addresses: ServerAddresses
  /** The data directory that was found; that of the settings when absent. */
  readonly dataDir?: string | undefined
  readonly isDeep?: boolean
  /** Replaces `/` in front of `proc` and `usr/share/doc`. */
  readonly root?: string
  readonly machine?: Partial<Machine>
  readonly slowAnswerMs?: number
}

/** @throws ConfigError for wrong settings */
export function openFacts(options: FactsOptions): Facts {
  const { environment, addresses, dataDir, isDeep = false, root = '/', machine = {}, slowAnswerMs = SLOW_ANSWER_MS } = options
  const settings = readDoctorSettings(environment, dataDir)
  const database = new DatabaseReader(settings)
  const servers = new ServerReader(addresses)
  const sandboxes = new SandboxReader(servers)
  return {
    settings,
    isDeep,
    engine: new EngineReader(settings.dockerHost),
    host: new HostReader(root),
    database,
    servers,
    machine: { ...MACHINE, ...machine },
    keyRing: () => readKeyRing(environment, describeDataDirectory(settings.dataDir)),
    sandboxes,
    authorities: [...getCACertificates('default'), ...settings.extraCa],
    slowAnswerMs,
    async [Symbol.asyncDispose]() {
      await sandboxes[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

/**
 * For checks of `/proc`, which is that of this machine.
 *
 * @throws Unreadable when the engine runs on another machine, or in a virtual one
 */
export async function requireEngineHost({ engine, host }: Facts): Promise<void> {
  const { kind } = await engine.answer()
  if (kind !== 'answers') return
  const { KernelVersion } = await engine.info()
  const own = host.find('proc/sys/kernel/osrelease')
  if (own !== KernelVersion) throw new Unreadable(`the engine runs on another machine (kernel ${KernelVersion}): run this there`)
}

/**
 * For checks of the network in `/proc`: this process must have the network namespace of the engine's host.
 *
 * @throws Unreadable in a container with a network of its own
 */
export async function requireEngineNetwork(facts: Facts): Promise<void> {
  const { engine, host } = facts
  const { kind } = await engine.answer()
  const own = host.interfaces()
  const bridges = kind === 'answers' ? (await engine.networks()).flatMap(bridgeOf) : []
  if (bridges.length === 0 && !host.isContainer) return
  if (bridges.length === 0) throw new Unreadable('this runs in a container, and no engine says whether it has the network of its host')
  if (bridges.some((name) => own.includes(name))) return
  throw new Unreadable("this process has not the network of the engine's host: run it there, outside of containers")
}

type NetworkFacts = Awaited<ReturnType<EngineReader['networks']>>[number]

/** The names that the engine gives to bridges on its host. */
function bridgeOf({ Driver, Id, Options }: NetworkFacts): string[] {
  if (Driver !== 'bridge') return []
  return [(Options as Record<string, string> | null)?.['com.docker.network.bridge.name'] ?? `br-${Id.slice(0, 12)}`]
}
