import type { components } from 'e2b'
import { expectTypeOf, it } from 'vitest'
import type { ErrorBody } from './error-body.ts'
import type { ConnectSandbox, ConnectSandboxV2 } from './sandboxes/lifetime.ts'
import type { NewSandbox, NewSandboxV2 } from './sandboxes/new-sandbox.ts'
import type { ListedSandbox, Sandbox, SandboxDetail } from './sandboxes/sandbox.ts'

type Published = components['schemas']

it('answers what the published client declares', () => {
  expectTypeOf<Sandbox>().toExtend<Published['Sandbox']>()
  expectTypeOf<ListedSandbox>().toExtend<Published['ListedSandbox']>()
  expectTypeOf<ErrorBody>().toExtend<Published['Error']>()
  // The seed has an explicit null where the published schema has absence.
  expectTypeOf<Omit<SandboxDetail, 'envdAccessToken'>>().toExtend<Omit<Published['SandboxDetail'], 'envdAccessToken'>>()
  expectTypeOf<NonNullable<SandboxDetail['envdAccessToken']>>().toExtend<NonNullable<Published['SandboxDetail']['envdAccessToken']>>()
})

it('accepts what the published client sends', () => {
  expectTypeOf<Published['NewSandbox']>().toExtend<NewSandbox>()
  expectTypeOf<Published['NewSandboxV2']>().toExtend<NewSandboxV2>()
  expectTypeOf<Published['ConnectSandbox']>().toExtend<ConnectSandbox>()
  expectTypeOf<Published['ConnectSandboxV2']>().toExtend<ConnectSandboxV2>()
})
