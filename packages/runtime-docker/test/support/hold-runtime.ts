/** Opens a runtime, prints a line and keeps it open until killed: `hold-runtime.ts <installation> <dist dir> <dist version> [engine]`. */
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { DockerRuntime } from '../../src/docker-runtime.ts'

const [installation = '', dir = '', version = '', dockerHost] = process.argv.slice(2)
await DockerRuntime.open({
  installation,
  daemonDist: { dir, version },
  dockerHost,
  log: silentLogger(),
  progress: { step: () => undefined, detail: () => undefined },
  wantedEgress: async () => new Map(),
})
process.stdout.write('open\n')
