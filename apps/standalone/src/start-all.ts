import type { Environment } from '@sandyard/kit/config/parse-config'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { StandaloneConfig } from './config.ts'
import type { DataDirectory } from './data/data-directory.ts'
import { ensureEngine } from './engine/ensure-engine.ts'
import { orInterrupted, type Interruption } from './interruption.ts'
import { checkPorts, type Listening } from './network/listen-failure.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface StartParts {
  readonly config: StandaloneConfig
  readonly directory: DataDirectory
  readonly log: Logger
  readonly terminal: Terminal
  readonly interruption: Interruption
  /** Takes what has to be undone, as it is done. */
  readonly shutdown: Shutdown
  readonly environment: Environment
}

export interface Started {
  /** Rejects when a part that the server cannot do without has ended by itself. */
  readonly failed: Promise<never>
}

/** Starts every part in the order of their needs. Whatever fails, `shutdown` undoes what had started. */
export async function startAll(parts: StartParts): Promise<Started> {
  const { config, terminal, interruption, environment } = parts
  terminal.say('Sandyard starts.')
  await checkPorts(listenings(config))
  const isInteractive = process.stdin.isTTY && process.stdout.isTTY
  const engine = await orInterrupted(interruption, ensureEngine({ environment, say: (line) => terminal.step(line), isInteractive }))
  terminal.step(`engine: Docker ${engine.version}`)
  return { failed: new Promise<never>(() => undefined) }
}

export function listenings({ bind: host, apiPort, proxyPort, metricsPort }: StandaloneConfig): [Listening, Listening, Listening] {
  return [
    { purpose: 'the API', host, port: apiPort, setting: 'SANDYARD_API_PORT' },
    { purpose: 'the sandbox proxy', host, port: proxyPort, setting: 'SANDYARD_PROXY_PORT' },
    { purpose: 'the metrics', host, port: metricsPort, setting: 'SANDYARD_METRICS_PORT' },
  ]
}
