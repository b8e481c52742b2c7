/** Opens a runtime, says so in a line, and holds it until it is killed: `hold-runtime.ts <installation> <dist dir> <dist version> [engine]`. */
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { DockerRuntime } from '../../src/docker-runtime.ts'

const [installation = '', dir = '', version = '', dockerHost] = process.argv.slice(2)
await DockerRuntime.open({
  installation,
  daemonDist: { dir, version },
  dockerHost,
  log: silentLogger(),
  progress: { step: () => undefined, detail: () => undefined },
})
process.stdout.write('open\n')
