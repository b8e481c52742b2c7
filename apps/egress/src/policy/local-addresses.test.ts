import { expect, it } from 'vitest'
import { parseLocalAddresses } from './local-addresses.ts'

const TRIE = `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     |-- 172.17.0.0
        /16 link UNICAST
     |-- 172.17.0.1
        /32 host LOCAL
     |-- 172.17.255.255
        /32 link BROADCAST
Local:
  +-- 0.0.0.0/0 3 0 5
     +-- 127.0.0.0/8 2 0 2
        |-- 127.0.0.0
           /8 host LOCAL
           /32 link BROADCAST
        |-- 127.0.0.1
           /32 host LOCAL
     |-- 172.17.0.1
        /32 host LOCAL
Id 100:
     |-- 0.0.0.0
        /0 host LOCAL
`

it('lists what is local in the tables of every host', () => {
  expect(parseLocalAddresses(TRIE)).toEqual(['172.17.0.1/32', '127.0.0.0/8', '127.0.0.1/32'])
})
