import { expect, test } from 'vitest'
import { cli } from '../matrix/clients/cli.ts'
import { computesdk } from '../matrix/clients/computesdk.ts'
import { e2bJavaScript, e2bPython } from '../matrix/clients/e2b.ts'
import { install, INSTALL_TIMEOUT_MS } from '../matrix/install.ts'
import { isBefore } from '../matrix/releases.ts'
import { runFlow } from '../matrix/run-flow.ts'
import { clientSettings } from '../matrix/settings.ts'
import { findPython } from './support/run-python.ts'

const FLOWS_TIMEOUT_MS = 240_000

// A part of `npm run matrix`: the oldest releases, and a package built on the SDK. The newest ones are in the other tests.
test.concurrent.for([
  { client: e2bJavaScript, version: '2.13.1' },
  { client: e2bPython, version: '2.23.0' },
  { client: cli, version: '2.10.3' },
  { client: computesdk, version: '1.7.52' },
])(
  '[POST /sandboxes] [proxy header form] $client.name $version',
  { timeout: INSTALL_TIMEOUT_MS + FLOWS_TIMEOUT_MS },
  async ({ client, version }, { skip }) => {
    if (client.registry === 'pypi') {
      const { missing } = await findPython()
      skip(missing !== '', missing)
    }
    const installation = await install(client, version)
    for (const flow of client.flows.filter(({ since = version }) => !isBefore(version, since))) {
      expect(await runFlow(flow, installation, clientSettings(process.env))).toMatchObject({
        isGood: true,
        text: expect.stringMatching(/^passed, \d+ step/),
      })
    }
  },
)
