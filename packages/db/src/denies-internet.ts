import type { StoredNetwork } from './schema/sandbox.ts'

/**
 * Whether everything is denied that `allowOut` does not list: `allow_internet_access: false` of the create request or of the last network
 * update, or all addresses in `denyOut` (control-plane.md 6.11, 18.4). An update without `allow_internet_access` denies nothing, although
 * the stored flag stays.
 */
export function deniesInternet({ denyInternet, denyOut = [] }: StoredNetwork, allowInternetAccess: boolean | null): boolean {
  return (denyInternet ?? allowInternetAccess === false) || denyOut.some(isAllAddresses)
}

/** A network such as `0.0.0.0/0`, of IPv4. */
export function isAllAddresses(entry: string): boolean {
  return entry.endsWith('/0') && !entry.includes(':')
}
