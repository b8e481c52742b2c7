/**
 * Makes local stand-ins of the images that the Compose file names, on an engine that reaches no image registry:
 * `npm run offline-images -- [--list | --remove] [names]` (docs/self-hosting.md).
 */
import { connectEngine } from '../packages/runtime-docker/src/engine/connect-engine.ts'
import { parseArguments, USAGE, type Request } from './offline-images/arguments.ts'
import { readHostAuthorities } from './offline-images/host-authorities.ts'
import { listImages } from './offline-images/list-images.ts'
import { makeImages } from './offline-images/make-images.ts'
import { removeImages } from './offline-images/remove-images.ts'
import { STAND_INS } from './offline-images/stand-ins.ts'

const request = parseArguments(process.argv.slice(2), STAND_INS)
if (typeof request === 'string') {
  process.stderr.write(`${request}\n${USAGE}\n`)
  process.exitCode = 2
} else if (request.action === 'help') {
  process.stdout.write(`${USAGE}\n`)
} else {
  await run(request).catch((err: Error) => {
    process.stderr.write(`sandyard: ${err.message}\n`)
    process.exitCode = 1
  })
}

async function run({ action, standIns, isVerbose }: Request): Promise<void> {
  const docker = await connectEngine(process.env['DOCKER_HOST'])
  const authorities = await readHostAuthorities()
  const step = (line: string): void => void process.stdout.write(`sandyard: ${line}\n`)
  const detail = (line: string): void => void (isVerbose && process.stdout.write(`  ${line}\n`))
  const options = { standIns, authorities, progress: { step, detail } }
  if (action === 'list') process.stdout.write(await listImages(docker, options))
  else if (action === 'remove') await removeImages(docker, options)
  else await makeImages(docker, options)
}
