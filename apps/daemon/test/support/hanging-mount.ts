import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Mounts a FUSE file system whose server never answers: every access waits in the kernel until `release`. */
export async function mountHanging(directory: string): Promise<{ release(): Promise<void> }> {
  const server = openSync('/dev/fuse', 'r+')
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other'
  const mount = spawn('mount', ['-i', '-t', 'fuse', '-o', options, 'hanging', directory], {
    stdio: ['ignore', 'inherit', 'inherit', server],
  })
  const [code] = (await once(mount, 'exit')) as [number | null]
  if (code !== 0) {
    closeSync(server)
    throw new Error(`mount exited with ${code}`)
  }
  let isMounted = true
  return {
    async release() {
      if (!isMounted) return
      isMounted = false
      // When the server closes the device, the kernel ends every wait with an error.
      closeSync(server)
      await run('umount', ['-l', directory])
    },
  }
}
