/**
 * IPv4 networks that are closed to sandboxes under every policy: this network, shared address space (metadata of Alibaba), loopback on
 * another interface, link-local (metadata of most clouds), protocol assignments (metadata of Oracle), Azure's host agent, multicast,
 * reserved and broadcast. Documentation and benchmark networks stay open, because package mirrors use them (control-plane.md 18.4).
 */
export const ALWAYS_CLOSED: readonly string[] = [
  '0.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '168.63.129.16/32',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/** RFC 1918: closed unless the operator opens a part. */
export const PRIVATE_NETWORKS: readonly string[] = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']
