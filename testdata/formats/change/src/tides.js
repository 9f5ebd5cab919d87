// Height of the tide from the two largest constituents of a station.
// Amplitude in metres and phase in degrees of M2 and S2, by station.
const stations = {
  brest: [[2.05, 109], [0.75, 149]],
  cuxhaven: [[1.37, 339], [0.35, 47]],
  lerwick: [[0.58, 312], [0.21, 347]],
  torshavn: [[0.13, 231], [0.06, 262]],
};
const speed = [28.9841042, 30]; // degrees an hour

const height = (station, hours) => stations[station].reduce((sum, [amplitude, phase], i) =>
  sum + amplitude * Math.cos((speed[i] * hours - phase) * Math.PI / 180), 0);

console.log(height(process.argv[2], 0).toFixed(2) + " m");
