import type { Attack } from './attack.ts'

/** An attack on the proxy that needs no sandbox, made on the control plane instead. */
export function onApi(attack: Attack): Attack {
  return {
    name: `${attack.name}, control plane`,
    run: (target, signal) => attack.run({ ...target, proxyUrl: target.apiUrl }, signal),
  }
}
