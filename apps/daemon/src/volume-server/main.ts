import { exit, stderr, stdout } from 'node:process'
import { changeRoot } from './change-root.ts'
import { parseServerFlags } from './flags.ts'
import { measureTree } from './measure-tree.ts'
import { createVolumeServer } from './server.ts'
import { removeDeepTree, removeTemporaries } from './temporary.ts'

/** The file service of one volume (control-plane.md 15.4). It prints its port when it listens. With `-measure-ms` it only measures the volume, with `-remove` it only removes an entry. */
async function main(args: readonly string[]): Promise<void> {
  const { host, port, root, instance, idleMs, measureMs, remove } = parseServerFlags(args)
  process.on('uncaughtException', (error) => void stderr.write(`unexpected failure: ${error.stack ?? error.message}\n`))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => exit(0))
  // Modes come from requests.
  process.umask(0)
  await changeRoot(root)
  if (measureMs > 0) {
    stdout.write(`bytes=${await measureTree('/', AbortSignal.timeout(measureMs))}\n`)
    return
  }
  if (remove !== '') {
    await removeDeepTree(`/${remove}`)
    stdout.write('removed\n')
    return
  }
  await removeTemporaries()
  const server = createVolumeServer({ digest: instance, idleMs, end: () => exit(0) })
  server.on('error', (error) => fail(error))
  server.listen(port, host, () => {
    const address = server.address()
    stdout.write(`${typeof address === 'object' && address !== null ? address.port : port}\n`)
  })
}

function fail(error: unknown): never {
  stderr.write(`sandyard volume server: ${error instanceof Error ? error.message : String(error)}\n`)
  exit(1)
}

main(process.argv.slice(2)).catch(fail)
