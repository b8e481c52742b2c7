import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import { createScratchDirectory } from './scratch-directory.ts'
import { startDaemon, type TestDaemon } from './test-daemon.ts'

export const INSTANCE_KEY = 'key of the instance'
export const IDENTITY = { sandboxID: 'i1', templateID: 't1', buildID: 'b1', tunnelSecretHash: secretDigest('tunnels of i1') }

/** A daemon with a platform, before its first `/init`. */
export interface ManagedDaemon extends TestDaemon {
  /** Has the run files and the files of the system. */
  readonly root: string
  /** Replaces the text of the instance file, as the platform does. */
  setInstanceFile(text: string): Promise<void>
}

export async function startManagedDaemon(): Promise<ManagedDaemon> {
  const scratch = await createScratchDirectory()
  const root = scratch.path
  const instanceFile = join(root, 'instance')
  const setInstanceFile = (text: string): Promise<void> => writeFile(instanceFile, text)
  await setInstanceFile(secretDigest(INSTANCE_KEY))
  const daemon = await startDaemon({
    SANDYARD_INSTANCE_FILE: instanceFile,
    SANDYARD_RUN_DIRECTORY: join(root, 'run/e2b'),
    SANDYARD_SYSTEM_ROOT: root,
  })
  return {
    ...daemon,
    root,
    setInstanceFile,
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]()
      await scratch[Symbol.asyncDispose]()
    },
  }
}

/** Sends `/init` as the platform does. Returns status and text. */
export async function platformInit(daemon: TestDaemon, body: object, key: string | undefined = INSTANCE_KEY): Promise<[number, string]> {
  const headers = { ...(key !== '' && { 'x-sandyard-instance-key': key }) }
  const answer = await fetch(`${daemon.url}/init`, { method: 'POST', headers, body: JSON.stringify(body) })
  return [answer.status, await answer.text()]
}
