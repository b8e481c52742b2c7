import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import { expect, it } from 'vitest'
import { RPC_METHODS } from './rpc-methods.ts'

it('has every method of both services', () => {
  const methods = [...Process.methods, ...Filesystem.methods].map(({ parent, name, methodKind }): [string, string] => [
    `/${parent.typeName}/${name}`,
    methodKind.replace('streaming', 'stream'),
  ])
  expect(RPC_METHODS).toEqual(new Map(methods))
})
