import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import { expect, it } from 'vitest'
import { RPC_PATHS } from './rpc-paths.ts'

it('names every method of both services', () => {
  const described = [Process, Filesystem].flatMap(({ typeName, methods }) => methods.map(({ name }) => `/${typeName}/${name}`))
  expect(RPC_PATHS.toSorted()).toEqual(described.toSorted())
})
