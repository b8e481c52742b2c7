import { fail, ok, type Check, type Finding } from '../check.ts'
import type { EngineAnswer } from '../facts/engine-reader.ts'

const REMEDY: Readonly<Record<Exclude<EngineAnswer['kind'], 'answers' | 'too_old'>, string>> = {
  no_socket: 'Start the engine (systemctl start docker), or set DOCKER_HOST to where it listens.',
  no_permission: 'Run this as root or as a member of the group of the socket: usermod -aG docker <user>, then log in again.',
  refused: 'Nothing listens there: start the engine, or correct DOCKER_HOST.',
  silent: 'The engine hangs: read its log (journalctl -u docker) and restart it.',
  failed: 'Correct DOCKER_HOST: unix:///path or tcp://host:port.',
}

const FOUND: Readonly<Record<keyof typeof REMEDY, string>> = {
  no_socket: 'there is no socket',
  no_permission: 'this user must not use the socket',
  refused: 'the connection is refused',
  silent: 'no answer within 5 s',
  failed: 'the engine cannot be asked',
}

export const engineAnswers: Check = {
  id: 'E1',
  title: 'Engine answers',
  checks: '`GET /_ping` within 5 s. No socket, no permission, a refused connection and silence are told apart: each fails',
  why: 'Every sandbox is a container of this engine: without it nothing starts, and most other checks are skipped.',
  todo: 'Start the engine, or correct DOCKER_HOST.',
  async run({ engine }): Promise<Finding> {
    const answer = await engine.answer()
    if (answer.kind === 'answers') return ok(`the engine at ${engine.address} answers`)
    if (answer.kind === 'too_old') return ok(`the engine at ${engine.address} answers, but see E2`)
    return fail(`${engine.address}: ${FOUND[answer.kind]} (${answer.reason})`, { todo: REMEDY[answer.kind] })
  },
}
