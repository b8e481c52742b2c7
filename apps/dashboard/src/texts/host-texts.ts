/** The texts of screens/host. */
export const hostTexts = {
  title: 'Host',
}
