/** Ends the Docker engine that `npm start` or `npm test` started on this machine, and no other. */
import { MACHINE_ENGINE, stopOwnedDockerd } from '../apps/standalone/src/engine/owned-dockerd.ts'

const SENTENCES = {
  stopped: 'the Docker engine is stopped.',
  'not-ours': 'no Docker engine of this project is running: nothing was stopped.',
  'still-running': 'the Docker engine does not end: see its log.',
} as const

const outcome = await stopOwnedDockerd(MACHINE_ENGINE.recordFile)
process.stdout.write(`sandyard: ${SENTENCES[outcome]}\n`)
process.exitCode = outcome === 'still-running' ? 1 : 0
