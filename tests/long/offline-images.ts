import { spawnSync } from 'node:child_process'
import { POSTGRES_TRIALS } from './stand-ins/postgres.ts'
import { SERVER_TRIALS } from './stand-ins/servers.ts'

/**
 * Makes the stand-ins that are missing and runs them as Compose would: `npm run long:offline-images`, some minutes the first time. Where a
 * registry is reached it tries the official images, which must behave alike, but for what a stand-in refuses. Exits with 1 when one fails.
 */
async function main(): Promise<boolean> {
  const made = spawnSync(process.execPath, ['tools/offline-images.ts'], { stdio: 'inherit' })
  if (made.status !== 0) return false
  let isGood = true
  for (const [name, trial] of Object.entries({ ...POSTGRES_TRIALS, ...SERVER_TRIALS })) {
    const failure = await trial().then(
      () => undefined,
      (err: Error) => err.message,
    )
    console.log(failure === undefined ? `ok: ${name}` : `FAILED: ${name}\n${failure}`)
    isGood &&= failure === undefined
  }
  return isGood
}

process.exitCode = (await main()) ? 0 : 1
