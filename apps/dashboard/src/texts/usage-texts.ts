/** The texts of screens/usage. */
export const usageTexts = {
  title: 'Usage',
  caption: 'Usage in the range',
  empty: 'Nothing ran in this range.',
  range: 'Range',
  ranges: { day: 'Last 24 hours', week: 'Last 7 days', month: 'Last 30 days', quarter: 'Last 90 days' },
  by: 'Grouped by',
  groups: { team: 'By team', template: 'By template', key: 'By key', metadata: 'By metadata' },
  metadataKey: 'Name of the metadata',
  metadataHint: 'Name a key of the metadata to group by, such as "customer".',
  columns: { name: 'Name', sandboxes: 'Sandboxes', hours: 'Sandbox hours', vcpu: 'vCPU hours', memory: 'Memory GiB hours' },
  total: 'Total',
  csv: 'Download CSV',
  cut: 'Only the 500 largest groups are shown.',
  chart: 'Sandbox hours in the range',
  most: (hours: string) => `tallest bar: ${hours} sandbox hours`,
  series: 'Sandbox hours',
}
