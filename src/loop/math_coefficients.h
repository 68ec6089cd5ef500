// Written by tools/minimax/minimax.py; change that instead.
// Polynomials are listed from the constant term on, with the base-2 logarithm of their largest relative error.
// clang-format off
#pragma once

#include <cstdint>

namespace lucid::loop::math {

// log(2) in two parts, the first short enough that its product with an exponent is exact
inline constexpr double kLn2Hi = 0x1.62e42fefa38p-1;
inline constexpr double kLn2Lo = 0x1.ef35793c7673p-45;
// the same for f32
inline constexpr double kLn2HiF32 = 0x1.62e4p-1;
inline constexpr double kLn2LoF32 = 0x1.7f7d1cp-20;
// 1 / log(2), and its rounding error
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kLog2ELo = 0x1.777d0ffda0d24p-56;
// 1 / log(10), and its rounding error
inline constexpr double kLog10E = 0x1.bcb7b1526e50ep-2;
inline constexpr double kLog10ELo = 0x1.95355baaafad3p-57;
// log10(2)
inline constexpr double kLog10Of2 = 0x1.34413509f79ffp-2;
// pi / 2, and its rounding error
inline constexpr double kHalfPi = 0x1.921fb54442d18p+0;
inline constexpr double kHalfPiLo = 0x1.1a62633145c07p-54;
inline constexpr double kHalfPiLowest = -0x1.f1976b7ed8fbcp-110;
// sqrt(1 / 2), and its rounding error
inline constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
inline constexpr double kSqrtHalfLo = -0x1.bdd3413b26456p-55;
// 2 sqrt(2 / pi), and its rounding error
inline constexpr double kGeluLinear = 0x1.9884533d43651p+0;
inline constexpr double kGeluLinearLo = -0x1.cbc0d30ebfd15p-54;
// 2 sqrt(2 / pi) 0.044715, and its rounding error
inline constexpr double kGeluCubic = 0x1.2444f2a4d8b4bp-4;
inline constexpr double kGeluCubicLo = -0x1.6c843a29d1c7p-61;
// log10(2) in two parts, the first short
inline constexpr double kLog10Of2Hi = 0x1.34413509f78p-2;
inline constexpr double kLog10Of2Rest = 0x1.fef311f12b358p-46;

// exp(r) = 1 + r + r^2 P(r): 2^-25.8
inline constexpr double kExpF32[] = {
    0x1p-1, 0x1.555494p-3, 0x1.555434p-5, 0x1.123deep-7, 0x1.6e6d9ap-10,
};
// exp(r) = 1 + r + r^2 P(r): 2^-59.7
inline constexpr double kExp[] = {
    0x1p-1, 0x1.5555555555559p-3, 0x1.555555555553ep-5, 0x1.111111110f6a9p-7, 0x1.6c16c16c1f162p-10,
    0x1.a01a01afe9bd8p-13, 0x1.a01a017b95e3bp-16, 0x1.71ddf841c54d2p-19, 0x1.27e5366059c02p-22, 0x1.af5ee8b9b367p-26,
    0x1.1ee88720a8b9fp-29,
};
// exp(r) = 1 + r + r^2 P(r): 2^-31.0
inline constexpr double kExpShort[] = {
    0x1.000000466cd9ep-1, 0x1.555555749e42fp-3, 0x1.55546f6c230dap-5, 0x1.1110aaee046a4p-7, 0x1.6da824da74223p-10,
    0x1.a17eac930ac76p-13,
};
// 2^r = 1 + r P(r): 2^-26.2
inline constexpr double kExp2F32[] = {
    0x1.62e432p-1, 0x1.ebfbep-3, 0x1.c6ae28p-5, 0x1.3b29e2p-7, 0x1.5f8a06p-10, 0x1.446d34p-13,
};
// 2^r = 1 + r P(r): 2^-55.6
inline constexpr double kExp2[] = {
    0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0dbp-5, 0x1.3b2ab6fba4e7dp-7, 0x1.5d87fe78a04c2p-10,
    0x1.430912f86a08dp-13, 0x1.ffcbfc7e79305p-17, 0x1.62c0224961aa8p-20, 0x1.b524ca2b2197dp-24,
    0x1.e4cef638c2fa7p-28, 0x1.ea1d13a160afap-32, 0x1.c4c957cc8dc8dp-36,
};
// 2^r = 1 + r P(r): 2^-34.3
inline constexpr double kExp2Short[] = {
    0x1.62e42ff0e42c4p-1, 0x1.ebfbe0784a415p-3, 0x1.c6b08abc3a44dp-5, 0x1.3b29f2d6045ep-7, 0x1.5d8a88a4d46afp-10,
    0x1.445d313cfccfcp-13, 0x1.fde4f50b4c9b3p-17,
};
// log(1 + f) = f - f^2 / 2 + f^3 P(f): 2^-27.3
inline constexpr double kLogF32[] = {
    0x1.555554p-2, -0x1.000228p-2, 0x1.99a036p-3, -0x1.54721ep-3, 0x1.22d5aep-3, -0x1.0d8224p-3, 0x1.057b44p-3,
    -0x1.39198p-4,
};
// log(1 + f) = f P(f): 2^-38.5
inline constexpr double kLogShort[] = {
    0x1.fffffffffc5bap-1, -0x1.fffffffe9b858p-2, 0x1.5555556b3f272p-2, -0x1.00000187fdf1cp-2, 0x1.999985d52e2adp-3,
    -0x1.55545668f2e22p-3, 0x1.249521c8859ebp-3, -0x1.00244beb39933p-3, 0x1.c6e047257b02bp-4, -0x1.94926fb6e79cep-4,
    0x1.71de7fdce7a67p-4, -0x1.7e3b2e6433b8fp-4, 0x1.7838c094fcf23p-4, -0x1.8c001d8ebb2c6p-5,
};
// log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2: 2^-58.4
inline constexpr double kLog[] = {
    0x1.5555555555594p-1, 0x1.999999997f58p-2, 0x1.249249425f521p-2, 0x1.c71c51b3eb197p-3, 0x1.74664fbbc8df3p-3,
    0x1.39a018259bbbcp-3, 0x1.2f1554898f597p-3,
};
// log(1 + r) = r - r^2 / 2 + r^3 P(r): 2^-69.5
inline constexpr double kLogTable[] = {
    0x1.5555555555555p-2, -0x1.0000000000067p-2, 0x1.9999999999b11p-3, -0x1.555555449c7f4p-3, 0x1.2492491005fe7p-3,
    -0x1.00068f7beb48bp-3, 0x1.c729cec2fcf33p-4,
};
// sin(r) = r + r z P(z), z = r^2: 2^-57.9
inline constexpr double kSin[] = {
    -0x1.5555555555548p-3, 0x1.111111110f73p-7, -0x1.a01a019be91fcp-13, 0x1.71de3555288dbp-19,
    -0x1.ae5e4b80d4b9bp-26, 0x1.5d8b547641c73p-33,
};
// sin(r) = r + r z P(z), z = r^2: 2^-37.5
inline constexpr double kSinShort[] = {
    -0x1.5555554c5fbap-3, 0x1.1111085d1badbp-7, -0x1.a00f74653045ep-13, 0x1.6ccf5dd31082ep-19,
};
// cos(r) = 1 - z / 2 + z^2 P(z), z = r^2: 2^-63.9
inline constexpr double kCos[] = {
    0x1.555555555554bp-5, -0x1.6c16c16c15005p-10, 0x1.a01a019c8c7c9p-16, -0x1.27e4f7ef0c2b1p-22,
    0x1.1ee9d9c563b99p-29, -0x1.8fa552cdd9e51p-37,
};
// cos(r) = 1 - z / 2 + z^2 P(z), z = r^2: 2^-33.0
inline constexpr double kCosShort[] = {
    0x1.555549ffb8bacp-5, -0x1.6c0c28b6502cfp-10, 0x1.99e86c830594ap-16,
};
// asin(x) = x + x z P(z), z = x^2: 2^-59.9
inline constexpr double kAsin[] = {
    0x1.5555555555577p-3, 0x1.333333332e10bp-4, 0x1.6db6db72153efp-5, 0x1.f1c71a9399433p-6, 0x1.6e8bdf0c96338p-6,
    0x1.1c49ece2d1356p-6, 0x1.ca1fe8577fe0fp-7, 0x1.75826b4191b85p-7, 0x1.614f1c04799acp-7, 0x1.e4ce1b330774bp-9,
    0x1.63fa89d4b4969p-6, -0x1.58884964e7dfp-6, 0x1.0b73d0f5f233fp-5,
};
// asin(x) = x + x z P(z), z = x^2: 2^-31.8
inline constexpr double kAsinShort[] = {
    0x1.55554c59a2606p-3, 0x1.33387fbee5481p-4, 0x1.6cae4fca1876fp-5, 0x1.04962cb6a6e86p-5, 0x1.d8d6c38a043a2p-7,
    0x1.3370b19a0922ap-5,
};
// atan(u) = u + u z P(z), z = u^2: 2^-59.4
inline constexpr double kAtan[] = {
    -0x1.555555555553dp-2, 0x1.9999999995868p-3, -0x1.24924922ad467p-3, 0x1.c71c70e602ad5p-4, -0x1.745cf8dad4a7ep-4,
    0x1.3b1118ffb528fp-4, -0x1.10ebb710a4a24p-4, 0x1.df0f3b04b186cp-5, -0x1.9cd27bc52dc2dp-5, 0x1.37d5142737b34p-5,
    -0x1.25694b90ff483p-6,
};
// atan(u) = u + u z P(z), z = u^2: 2^-35.4
inline constexpr double kAtanShort[] = {
    -0x1.555554c5f80a9p-2, 0x1.9999189990264p-3, -0x1.247ed99e6d1d5p-3, 0x1.c463ebc61459fp-4, -0x1.5b2fc60940dbcp-4,
    0x1.84a077f6a6c25p-5,
};
// tanh(x) = x + x z P(z), z = x^2: 2^-27.7
inline constexpr double kTanhF32[] = {
    -0x1.555532p-2, 0x1.1106f6p-3, -0x1.b835a4p-5, 0x1.51f8cep-6, -0x1.750ce2p-8,
};
// tanh(x) = x + x z P(z), z = x^2: 2^-61.2
inline constexpr double kTanh[] = {
    -0x1.5555555555552p-2, 0x1.1111111110c52p-3, -0x1.ba1ba1b9d195dp-5, 0x1.664f4870c2f8ap-6, -0x1.226e32cf9371bp-7,
    0x1.d6d35a3775409p-9, -0x1.7d9c33043db2fp-10, 0x1.350b8710fcc28p-11, -0x1.f113477edcd69p-13,
    0x1.801b71c63b6bap-14, -0x1.fac52e7e440c9p-16, 0x1.9604bdce2661dp-18,
};
// x - tanh(x) = x z P(z), z = x^2: 2^-25.0
inline constexpr double kTanhshrinkF32[] = {
    0x1.555556p-2, -0x1.11117cp-3, 0x1.ba314p-5, -0x1.670fb6p-6, 0x1.24b2aap-7, -0x1.cfdb12p-9, 0x1.2f9ce4p-10,
    -0x1.b4be62p-13,
};
// x - tanh(x) = x z P(z), z = x^2: 2^-54.0
inline constexpr double kTanhshrink[] = {
    0x1.5555555555555p-2, -0x1.1111111110fd9p-3, 0x1.ba1ba1ba03e0bp-5, -0x1.664f487d04a9fp-6, 0x1.226e34a3a4459p-7,
    -0x1.d6d3b40cef6edp-9, 0x1.7da1ecf7f2986p-10, -0x1.354ae2d535405p-11, 0x1.f4d12e7042f95p-13,
    -0x1.9347181b9e0d2p-14, 0x1.3e099e36efd1fp-15, -0x1.d8c51733b41afp-17, 0x1.34927b7fa8ca3p-18,
    -0x1.3e08f89b468b7p-20, 0x1.b9ab140c1a565p-23, -0x1.2c11ad9e8ef1ap-26,
};
// sinh(r) = r + r z P(z), z = r^2: 2^-61.7
inline constexpr double kSinh[] = {
    0x1.5555555555559p-3, 0x1.111111110f624p-7, 0x1.a01a01b0250bep-13, 0x1.71ddf79e16884p-19, 0x1.af601c7b42c21p-26,
};
// sinh(r) = r + r z P(z), z = r^2: 2^-37.5
inline constexpr double kSinhShort[] = {
    0x1.5555557387e1ep-3, 0x1.1110b1b15f1d6p-7, 0x1.a1702773d5cdfp-13,
};
// cosh(r) = 1 + z P(z), z = r^2: 2^-70.0
inline constexpr double kCosh[] = {
    0x1p-1, 0x1.5555555555558p-5, 0x1.6c16c16c14ff1p-10, 0x1.a01a01ad86bccp-16, 0x1.27e4cbf6e9999p-22,
    0x1.1f8c13761f308p-29,
};
// cosh(r) = 1 + z P(z), z = r^2: 2^-34.3
inline constexpr double kCoshShort[] = {
    0x1.00000043474a5p-1, 0x1.55547fd090584p-5, 0x1.6d96eedefee0bp-10,
};
// erf(x) = x + x P(z), z = x^2: 2^-56.3
inline constexpr double kErf[] = {
    0x1.06eba8214db69p-3, -0x1.812746b037a25p-2, 0x1.ce2f21a0458d4p-4, -0x1.b82ce31354a9ep-6, 0x1.565bcd2c5abbbp-8,
    -0x1.c02db9312b379p-11, 0x1.f9a3b90e22e2bp-14, -0x1.f4dceb4ae2efdp-17, 0x1.ba68bcc05b181p-20,
    -0x1.638d8eb999838p-23, 0x1.130dde906a984p-26, -0x1.c43d610dc4b2ep-30, 0x1.3aed94be3e509p-33,
};
// erfc(x) = exp(-x^2) P(t) / (1 + 2 x), t = (x - 4) / (x + 4): 2^-54.3
inline constexpr double kErfc[] = {
    0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a28ep-3, 0x1.f7f5df66fd71ap-7, 0x1.16ecefcfa52b2p-4, -0x1.9ddb23c3e8b22p-4,
    0x1.7fee004e14c63p-4, -0x1.0fb06dfe53476p-4, 0x1.3079edf61ed39p-5, -0x1.09623882d77dfp-6, 0x1.49c672a9b2b48p-8,
    -0x1.8d4a9c34395cep-11, -0x1.a1df446774c6cp-13, 0x1.3be06c11c4606p-13, -0x1.9954ecb3d2295p-16,
    -0x1.788e1ebd4869ap-17, 0x1.7ef59ef36cac2p-18, 0x1.3bfc62b205d56p-22, -0x1.b8034569c72f1p-21,
    0x1.3d6a89990e9cdp-24, 0x1.bbccebae3106p-24, -0x1.2949e52d546e6p-26, -0x1.4ca1810ecc4f1p-27,
    0x1.bdfb729388a15p-30,
};
// erfc(x) = exp(-x^2) P(t) / (1 + 2 x), t = (x - 4) / (x + 4): 2^-32.8
inline constexpr double kErfcShort[] = {
    0x1.3ba5916f2b374p+0, -0x1.1df1ad5c8d69ap-3, 0x1.f7f5aafc920e5p-7, 0x1.16ed0f34ffb47p-4, -0x1.9dda43e5fd55fp-4,
    0x1.7fec843778214p-4, -0x1.0fbbace283eb3p-4, 0x1.307bec2881455p-5, -0x1.0871f2cd80c7ep-6, 0x1.4d2c4cf182157p-8,
    -0x1.bec33f1df3ad4p-11, -0x1.8cb7284b313fbp-12, 0x1.49907dd271edap-14,
};

// 1 / (2 pi) in limbs of 27 bits, the first of them before the binary point
inline constexpr int64_t kInverseTwoPi[] = {
    0, 21361414, 115663937, 43318803, 90130388, 110868507, 56792473, 31595650, 8361048, 123190647, 72751986,
    37166369, 20401024, 13182429, 34197906, 15200495, 46607434, 55475665, 2318162, 123576898, 61239744, 81169391,
    104937873, 112315418, 80641319, 17350423, 64983683, 93322315, 134182934, 50462181, 118590298, 5466363, 55418803,
    105879059, 57996387, 129191727, 128497108, 83319037, 65401211, 31996367, 98735268, 97834998, 100340216,
    112100395, 835867, 126840181, 66113468, 17094561, 92760696, 119718589, 107065478,
};

// For 128 intervals from 0.6953125 up to its double: 1/c, exact, and log(c) in two parts
inline constexpr double kLogTableInverse[] = {
    0x1.7p+0, 0x1.6ep+0, 0x1.6cp+0, 0x1.6ap+0, 0x1.68p+0, 0x1.66p+0, 0x1.64p+0, 0x1.62p+0, 0x1.6p+0, 0x1.5ep+0,
    0x1.5cp+0, 0x1.5ap+0, 0x1.58p+0, 0x1.56p+0, 0x1.54p+0, 0x1.52p+0, 0x1.5p+0, 0x1.5p+0, 0x1.4ep+0, 0x1.4cp+0,
    0x1.4ap+0, 0x1.48p+0, 0x1.46p+0, 0x1.46p+0, 0x1.44p+0, 0x1.42p+0, 0x1.4p+0, 0x1.3ep+0, 0x1.3ep+0, 0x1.3cp+0,
    0x1.3ap+0, 0x1.38p+0, 0x1.38p+0, 0x1.36p+0, 0x1.34p+0, 0x1.32p+0, 0x1.32p+0, 0x1.3p+0, 0x1.2ep+0, 0x1.2ep+0,
    0x1.2cp+0, 0x1.2ap+0, 0x1.2ap+0, 0x1.28p+0, 0x1.26p+0, 0x1.26p+0, 0x1.24p+0, 0x1.22p+0, 0x1.22p+0, 0x1.2p+0,
    0x1.1ep+0, 0x1.1ep+0, 0x1.1cp+0, 0x1.1cp+0, 0x1.1ap+0, 0x1.18p+0, 0x1.18p+0, 0x1.16p+0, 0x1.16p+0, 0x1.14p+0,
    0x1.12p+0, 0x1.12p+0, 0x1.1p+0, 0x1.1p+0, 0x1.0ep+0, 0x1.0ep+0, 0x1.0cp+0, 0x1.0ap+0, 0x1.0ap+0, 0x1.08p+0,
    0x1.08p+0, 0x1.06p+0, 0x1.06p+0, 0x1.04p+0, 0x1.04p+0, 0x1.02p+0, 0x1.02p+0, 0x1p+0, 0x1p+0, 0x1.fap-1,
    0x1.f6p-1, 0x1.f2p-1, 0x1.eep-1, 0x1.eap-1, 0x1.e8p-1, 0x1.e4p-1, 0x1.ep-1, 0x1.dcp-1, 0x1.dap-1, 0x1.d6p-1,
    0x1.d2p-1, 0x1.dp-1, 0x1.ccp-1, 0x1.c8p-1, 0x1.c6p-1, 0x1.c2p-1, 0x1.cp-1, 0x1.bcp-1, 0x1.bap-1, 0x1.b6p-1,
    0x1.b4p-1, 0x1.bp-1, 0x1.aep-1, 0x1.aap-1, 0x1.a8p-1, 0x1.a6p-1, 0x1.a2p-1, 0x1.ap-1, 0x1.9ep-1, 0x1.9ap-1,
    0x1.98p-1, 0x1.96p-1, 0x1.94p-1, 0x1.9p-1, 0x1.8ep-1, 0x1.8cp-1, 0x1.8ap-1, 0x1.88p-1, 0x1.84p-1, 0x1.82p-1,
    0x1.8p-1, 0x1.7ep-1, 0x1.7cp-1, 0x1.7ap-1, 0x1.78p-1, 0x1.76p-1, 0x1.74p-1, 0x1.72p-1,
};
inline constexpr double kLogTableHi[] = {
    -0x1.739d7f6bbdp-2, -0x1.6e08eaa2bap-2, -0x1.686c81e9b1p-2, -0x1.62c82f2b9cp-2, -0x1.5d1bdbf581p-2,
    -0x1.5767717456p-2, -0x1.51aad872ep-2, -0x1.4be5f95778p-2, -0x1.4618bc21c6p-2, -0x1.404308686ap-2,
    -0x1.3a64c55694p-2, -0x1.347dd9a988p-2, -0x1.2e8e2bae12p-2, -0x1.2895a13de8p-2, -0x1.22941fbcf8p-2,
    -0x1.1c898c169ap-2, -0x1.1675cababap-2, -0x1.1675cababap-2, -0x1.1058bf9ae5p-2, -0x1.0a324e2739p-2,
    -0x1.0402594b4dp-2, -0x1.fb9186d5e4p-3, -0x1.ef0adcbdc6p-3, -0x1.ef0adcbdc6p-3, -0x1.e27076e2bp-3,
    -0x1.d5c216b4fcp-3, -0x1.c8ff7c79aap-3, -0x1.bc286742d8p-3, -0x1.bc286742d8p-3, -0x1.af3c94e80cp-3,
    -0x1.a23bc1fe2cp-3, -0x1.9525a9cf46p-3, -0x1.9525a9cf46p-3, -0x1.87fa06520cp-3, -0x1.7ab890210ep-3,
    -0x1.6d60fe719ep-3, -0x1.6d60fe719ep-3, -0x1.5ff3070a7ap-3, -0x1.526e5e3a1cp-3, -0x1.526e5e3a1cp-3,
    -0x1.44d2b6ccb8p-3, -0x1.371fc201e8p-3, -0x1.371fc201e8p-3, -0x1.29552f82p-3, -0x1.1b72ad52f6p-3,
    -0x1.1b72ad52f6p-3, -0x1.0d77e7cd08p-3, -0x1.fec9131dcp-4, -0x1.fec9131dcp-4, -0x1.e27076e2bp-4,
    -0x1.c5e548f5bcp-4, -0x1.c5e548f5bcp-4, -0x1.a926d3a4acp-4, -0x1.a926d3a4acp-4, -0x1.8c345d6318p-4,
    -0x1.6f0d28ae58p-4, -0x1.6f0d28ae58p-4, -0x1.51b073f06p-4, -0x1.51b073f06p-4, -0x1.341d7961bcp-4,
    -0x1.16536eea38p-4, -0x1.16536eea38p-4, -0x1.f0a30c0118p-5, -0x1.f0a30c0118p-5, -0x1.b42dd71198p-5,
    -0x1.b42dd71198p-5, -0x1.77458f633p-5, -0x1.39e87b9fe8p-5, -0x1.39e87b9fe8p-5, -0x1.f829b0e78p-6,
    -0x1.f829b0e78p-6, -0x1.7b91b07d6p-6, -0x1.7b91b07d6p-6, -0x1.fc0a8b0fcp-7, -0x1.fc0a8b0fcp-7, -0x1.fe02a6b1p-8,
    -0x1.fe02a6b1p-8, 0x0p+0, 0x0p+0, 0x1.82448a388p-7, 0x1.432a92598p-6, 0x1.c63d2ec15p-6, 0x1.252f32f8dp-5,
    0x1.67c94f2d48p-5, 0x1.894aa149f8p-5, 0x1.ccb73cddd8p-5, 0x1.08598b59e4p-4, 0x1.2aa04a447p-4, 0x1.3bdf5a7d2p-4,
    0x1.5e95a4d978p-4, 0x1.8197e2f41p-4, 0x1.9335e5d594p-4, 0x1.b6ac88dad4p-4, 0x1.da72763844p-4, 0x1.ec739830ap-4,
    0x1.08598b59e4p-3, 0x1.1178e8227ep-3, 0x1.23d712a49cp-3, 0x1.2d1610c868p-3, 0x1.3fb45a5992p-3, 0x1.4913d8333cp-3,
    0x1.5bf406b544p-3, 0x1.6574ebe8c2p-3, 0x1.7898d85444p-3, 0x1.823c16551ap-3, 0x1.8beafeb39p-3, 0x1.9f6c40708ap-3,
    0x1.a93ed3c8aep-3, 0x1.b31d8575bcp-3, 0x1.c6ffbc6fp-3, 0x1.d1037f2656p-3, 0x1.db13db0d48p-3, 0x1.e530effe72p-3,
    0x1.f991c6cb3cp-3, 0x1.01eae5626cp-2, 0x1.07138604d6p-2, 0x1.0c42d67616p-2, 0x1.1178e8227ep-2, 0x1.1bf99635a7p-2,
    0x1.214456d0ecp-2, 0x1.269621134ep-2, 0x1.2bef07cdc9p-2, 0x1.314f1e1d36p-2, 0x1.36b6776be1p-2, 0x1.3c25277333p-2,
    0x1.419b423d5fp-2, 0x1.4718dc271cp-2, 0x1.4c9e09e173p-2,
};
inline constexpr double kLogTableLo[] = {
    -0x1.a7389314feb5p-52, -0x1.e38c139318d71p-46, -0x1.2bb110af84054p-44, -0x1.e54bdbd7c8a98p-44,
    0x1.8d6bdc9c7c238p-44, 0x1.64ead9524d7cap-44, 0x1.f4bd8db0a7cc1p-44, 0x1.d7c92cd9ad824p-44,
    0x1.3d82f484c84ccp-46, -0x1.f8ef43049f7d3p-44, -0x1.7a71cbcd735dp-44, 0x1.5594dd4c58092p-45,
    0x1.67b1e99b72bd8p-45, -0x1.a8d7ad24c13fp-44, 0x1.a6976f5eb0963p-44, 0x1.81410e5c62affp-44,
    -0x1.8380e731f55c4p-44, -0x1.8380e731f55c4p-44, 0x1.4ab9d817d52cdp-44, -0x1.c6bee7ef4030ep-47,
    -0x1.036b89ef42d7fp-48, 0x1.d572aab993c87p-47, 0x1.b26b79c86af24p-45, 0x1.b26b79c86af24p-45,
    0x1.a342c2af0003cp-44, 0x1.1ba91bbca681bp-45, 0x1.7794f689f8434p-45, -0x1.9ac53f39d121cp-44,
    -0x1.9ac53f39d121cp-44, 0x1.a4e633fcd9066p-52, 0x1.539cd91dc9f0bp-44, 0x1.297137d9f158fp-44,
    0x1.297137d9f158fp-44, -0x1.22120401202fcp-44, 0x1.bdb9072534a58p-45, 0x1.bc6e557134767p-44,
    0x1.bc6e557134767p-44, 0x1.8586f183bebf2p-44, 0x1.790ba37fc5238p-44, 0x1.790ba37fc5238p-44,
    0x1.70cc16135783cp-46, -0x1.ee8779b2d8abcp-44, -0x1.ee8779b2d8abcp-44, 0x1.5b967f4471dfcp-44,
    -0x1.e80a41811a396p-45, -0x1.e80a41811a396p-45, -0x1.cb2cd2ee2f482p-44, 0x1.54555d1ae6607p-44,
    0x1.54555d1ae6607p-44, 0x1.a342c2af0003cp-45, -0x1.d0c57585fbe06p-46, -0x1.d0c57585fbe06p-46,
    -0x1.563650bd22a9cp-44, -0x1.563650bd22a9cp-44, -0x1.b20f5acb42a66p-44, 0x1.4b4641b664613p-44,
    0x1.4b4641b664613p-44, -0x1.83f69278e686ap-44, -0x1.83f69278e686ap-44, -0x1.1d0929983761p-44,
    0x1.47c5e768fa309p-46, 0x1.47c5e768fa309p-46, 0x1.d599e83368e91p-45, 0x1.d599e83368e91p-45,
    0x1.c827ae5d6704cp-46, 0x1.c827ae5d6704cp-46, 0x1.181dce586af09p-44, -0x1.eafd480ad9015p-44,
    -0x1.eafd480ad9015p-44, -0x1.980267c7e09e4p-45, -0x1.980267c7e09e4p-45, 0x1.3b955b602ace4p-44,
    0x1.3b955b602ace4p-44, -0x1.f1e7cf6d3a69cp-50, -0x1.f1e7cf6d3a69cp-50, -0x1.9e23f0dda40e4p-46,
    -0x1.9e23f0dda40e4p-46, 0x0p+0, 0x0p+0, 0x1.4554412c584ep-44, 0x1.98139928637fep-47, -0x1.5439ce030a687p-44,
    0x1.83e9ae021b67bp-45, 0x1.dac20827cca0cp-44, 0x1.9a19a8be97661p-44, 0x1.965c36e09f5fep-44,
    -0x1.7e5dd7009902cp-46, 0x1.7a48ba8b1cb41p-44, -0x1.19bd0ad125895p-44, 0x1.1cb7ce1d17171p-44,
    -0x1.c0fe460d20041p-44, 0x1.3115c3abd47dap-45, 0x1.b1bdff50225c7p-44, 0x1.a89401fa71733p-46,
    0x1.11fcba80cdd1p-44, -0x1.7e5dd7009902cp-45, 0x1.1ef78ce2d07f2p-45, 0x1.00d238fd3df5cp-46,
    0x1.39d6ccb81b4a1p-47, 0x1.19713c0cae559p-44, -0x1.53e43558124c4p-44, -0x1.27023eb68981cp-46,
    -0x1.98c1d34f0f462p-44, 0x1.8e67be3dbaf3fp-44, 0x1.e0ddb9a631e83p-46, -0x1.73d54aae92cd1p-47,
    -0x1.337d94bcd3f43p-44, -0x1.8724350562169p-45, 0x1.c794e562a63cbp-44, 0x1.ee138d3a69d43p-44,
    -0x1.84a7e75b6f6e4p-47, 0x1.2806a847527e6p-44, -0x1.fdbdbb13f7c18p-44, -0x1.90d04cd7cc834p-44,
    0x1.a43dcfade85aep-44, -0x1.e76324e912b17p-44, 0x1.7188b163ceae9p-45, 0x1.1ef78ce2d07f2p-44,
    -0x1.1ac89575c2125p-44, -0x1.caf0428b728a3p-44, -0x1.1b61f10522625p-44, 0x1.a9cfa4a5004f4p-45,
    -0x1.8e27ad3213cb8p-45, 0x1.16ecdb0f177c8p-46, 0x1.83b54b606bd5cp-46, -0x1.ce379226de3ecp-44,
    0x1.06c18fb4c14c5p-44, -0x1.e20891b0ad8a4p-45,
};

// For 16 intervals, the k-th around k / kErfScale: erf(x) = x P(t), t = kErfScale x - k: 2^-24.2
inline constexpr double kErfScale = 0x1.e8p+1;
inline constexpr double kErfTableF32[][16] = {
    {
        0x1.20dd76p+0, 0x1.1a6004p+0, 0x1.086b2cp+0, 0x1.ddbad4p-1, 0x1.a4b804p-1, 0x1.6d8e4p-1, 0x1.3cdcc4p-1,
        0x1.143b48p-1, 0x1.e688f6p-2, 0x1.b1699p-2, 0x1.8651a4p-2, 0x1.62e4a4p-2, 0x1.4554ap-2, 0x1.2c4ea8p-2,
        0x1.16db6ap-2, 0x1.044444p-2,
    },
    {
        -0x1.88d2bp-18, -0x1.96e3e8p-5, -0x1.68615cp-4, -0x1.bc8238p-4, -0x1.c91e34p-4, -0x1.a35c54p-4,
        -0x1.65c3f2p-4, -0x1.250348p-4, -0x1.d864a8p-5, -0x1.7d5a32p-5, -0x1.374dfcp-5, -0x1.01e67cp-5,
        -0x1.b1b284p-6, -0x1.7198a4p-6, -0x1.3eb126p-6, -0x1.159e16p-6,
    },
    {
        -0x1.a66f8p-6, -0x1.758f46p-6, -0x1.ea501ap-7, -0x1.7061c2p-8, 0x1.10829ap-9, 0x1.aee5ap-8, 0x1.074d04p-7,
        0x1.eefbdap-8, 0x1.9a20cp-8, 0x1.3fa5b6p-8, 0x1.e7a022p-9, 0x1.74a926p-9, 0x1.209fd8p-9, 0x1.c6b4aap-10,
        0x1.6c30d6p-10, 0x1.281f0ep-10,
    },
    {
        -0x1.12c378p-11, 0x1.01ea7p-9, 0x1.919154p-9, 0x1.86ab8ap-9, 0x1.0ebee6p-9, 0x1.f01d8p-11, 0x1.877d8p-14,
        -0x1.6ec60ep-12, -0x1.f03234p-12, -0x1.c4061p-12, -0x1.628036p-12, -0x1.05aad6p-12, -0x1.7c982ap-13,
        -0x1.16fd8cp-13, -0x1.9ff01ap-14, -0x1.3bd25ep-14,
    },
    {
        0x1.c66a16p-10, 0x1.ac7b92p-12, 0x1.049ed6p-13, -0x1.3512f4p-13, -0x1.2388bp-12, -0x1.0ef734p-12,
        -0x1.531ce6p-13, -0x1.107396p-14, -0x1.3288c4p-18, 0x1.50ff8cp-16, 0x1.906f1ep-16, 0x1.4b0398p-16,
        0x1.e2f044p-17, 0x1.528786p-17, 0x1.da2f98p-18, 0x1.511b6ap-18,
    },
    {
        -0x1.fa35f8p-11, -0x1.810946p-15, -0x1.022126p-14, -0x1.64d1c8p-15, -0x1.3c10fep-17, 0x1.ec6492p-17,
        0x1.6640ccp-16, 0x1.0ef3fcp-16, 0x1.0ef4cp-17, 0x1.3571a2p-19, -0x1.8932d4p-22, -0x1.217cfap-20,
        -0x1.0a2666p-20, -0x1.858a7p-21, -0x1.096752p-21, -0x1.65a46ep-22,
    },
};

// For 16 intervals, the k-th where kNormalScale x (x + 2) is near k: a center c and P(t), t = x - c, for the
// probability that a normal variable exceeds x
inline constexpr double kNormalScale = 0x1.ap-2;
// 2^-24.8
inline constexpr double kNormalNearCenters[] = {
        0x1.f28p-3, 0x1.aap-1, 0x1.6ccp+0, 0x1.e24p+0, 0x1.2458p+1, 0x1.528p+1, 0x1.7c98p+1, 0x1.a26p+1, 0x1.c6bp+1,
        0x1.e718p+1, 0x1.04p+2, 0x1.1348p+2, 0x1.217p+2, 0x1.2fa8p+2, 0x1.3d6p+2, 0x1.49b8p+2,
};
inline constexpr double kNormalNear[][16] = {
    {
        0x1.9d897p-2, 0x1.9f1ee6p-3, 0x1.3bd46p-4, 0x1.e830a8p-6, 0x1.6e98e4p-7, 0x1.0c0e4cp-8, 0x1.820c48p-10,
        0x1.1b5f88p-11, 0x1.9082ecp-13, 0x1.28e17ep-14, 0x1.974438p-16, 0x1.1cea24p-17, 0x1.9a338ep-19,
        0x1.185dbp-20, 0x1.7c70e8p-22, 0x1.14f1p-23,
    },
    {
        -0x1.8c97bp-2, -0x1.20fdb6p-2, -0x1.2815cp-3, -0x1.152202p-4, -0x1.e1844ep-6, -0x1.8c0854p-7, -0x1.3a78eep-8,
        -0x1.f4b078p-10, -0x1.7c8e3p-11, -0x1.2be23ap-12, -0x1.b44eap-14, -0x1.417f22p-15, -0x1.e4a4dep-17,
        -0x1.5a3dd6p-18, -0x1.e9846ap-20, -0x1.714496p-21,
    },
    {
        0x1.82228cp-5, 0x1.e0e64ap-4, 0x1.a5dd06p-4, 0x1.0507a6p-4, 0x1.12f038p-5, 0x1.05d484p-6, 0x1.d3863ap-8,
        0x1.9921fp-9, 0x1.51f4eap-10, 0x1.1d4bb4p-11, 0x1.bb1fep-13, 0x1.59b60ap-14, 0x1.11f902p-15, 0x1.9ab264p-17,
        0x1.2f704p-18, 0x1.db9a52p-20,
    },
    {
        0x1.f16c08p-5, 0x1.da8c4ep-7, -0x1.9699fep-6, -0x1.d6e1e6p-6, -0x1.52611cp-6, -0x1.8b9c92p-7, -0x1.9af79ap-8,
        -0x1.9408f4p-9, -0x1.7073ap-10, -0x1.50e58cp-11, -0x1.19d8eep-12, -0x1.d4dc18p-14, -0x1.88cec6p-15,
        -0x1.365492p-16, -0x1.e12b3ap-18, -0x1.88f9b2p-19,
    },
    {
        -0x1.7a595ap-7, -0x1.7200acp-6, -0x1.10e87cp-7, 0x1.7e0f7cp-9, 0x1.963876p-8, 0x1.5c8832p-8, 0x1.c723eap-9,
        0x1.05f9c4p-9, 0x1.0edfeep-10, 0x1.10fc1p-11, 0x1.f2a13cp-13, 0x1.be7ffap-14, 0x1.8e84d8p-15, 0x1.4de4b2p-16,
        0x1.10fabap-17, 0x1.d2a6bep-19,
    },
    {
        -0x1.13fdd2p-7, 0x1.81068p-10, 0x1.8a1a46p-8, 0x1.a5a59cp-9, 0x1.27dc0cp-12, -0x1.03ca8cp-10,
        -0x1.25d102p-10, -0x1.ba37c4p-11, -0x1.12eb62p-11, -0x1.3b43e8p-12, -0x1.41f0b8p-13, -0x1.3b91b4p-14,
        -0x1.2f1472p-15, -0x1.0ffb7ep-16, -0x1.d875f8p-18, -0x1.a86ddcp-19,
    },
    {
        0x1.d91bc4p-10, 0x1.6e8088p-9, -0x1.24944ep-12, -0x1.72393p-10, -0x1.e0433ep-11, -0x1.151b2ap-12,
        0x1.80281ep-14, 0x1.8c15aap-13, 0x1.6a4eacp-13, 0x1.f26f94p-14, 0x1.30988p-14, 0x1.536092p-15,
        0x1.5661e2p-16, 0x1.520fp-17, 0x1.3df244p-18, 0x1.22adeep-19,
    },
};
// The same for 16 intervals of [4, 16), by bits 20 to 23 of x as an f32, times 2^-64 exp(x^2 / 2)
// 2^-27.9
inline constexpr double kNormalFarCenters[] = {
        0x1.0ffap+3, 0x1.300ep+3, 0x1.5022p+3, 0x1.702cp+3, 0x1.901ep+3, 0x1.b02p+3, 0x1.cfdp+3, 0x1.f018p+3,
        0x1.1034p+2, 0x1.2fd4p+2, 0x1.4fap+2, 0x1.7038p+2, 0x1.9048p+2, 0x1.b004p+2, 0x1.d018p+2, 0x1.efdp+2,
};
inline constexpr double kNormalFar[][16] = {
    {
        0x1.7b675ap-69, 0x1.54434p-69, 0x1.3461bp-69, 0x1.19f43cp-69, 0x1.03bbc8p-69, 0x1.e16a94p-70, 0x1.c0d7c4p-70,
        0x1.a3e1e4p-70, 0x1.6dc44cp-68, 0x1.4a9e9ep-68, 0x1.2d52bep-68, 0x1.141ddap-68, 0x1.fe16bep-69,
        0x1.da2876p-69, 0x1.ba902cp-69, 0x1.9f2686p-69,
    },
    {
        -0x1.5bda02p-72, -0x1.1876e4p-72, -0x1.cd93a2p-73, -0x1.82638p-73, -0x1.483d5ep-73, -0x1.1a27dcp-73,
        -0x1.eaddd6p-74, -0x1.adcfdp-74, -0x1.39976ap-70, -0x1.020caep-70, -0x1.af171cp-71, -0x1.6ba06ap-71,
        -0x1.375a72p-71, -0x1.0dcf6cp-71, -0x1.d73b2ap-72, -0x1.9f7b42p-72,
    },
    {
        0x1.3afb6ap-75, 0x1.c9ae46p-76, 0x1.56898p-76, 0x1.06e09cp-76, 0x1.9c4da2p-77, 0x1.4902a2p-77,
        0x1.0b2fbap-77, 0x1.b635e4p-78, 0x1.029d96p-72, 0x1.85be6p-73, 0x1.2bc66ap-73, 0x1.d358fcp-74, 0x1.741d8p-74,
        0x1.2d638ap-74, 0x1.ed8ee8p-75, 0x1.99c22p-75,
    },
    {
        -0x1.19d156p-78, -0x1.71c634p-79, -0x1.f83a82p-80, -0x1.633624p-80, -0x1.01684ep-80, -0x1.7dab52p-81,
        -0x1.218ed2p-81, -0x1.bd006ap-82, -0x1.9bcc34p-75, -0x1.1d8b1ep-75, -0x1.96203ap-76, -0x1.258ccap-76,
        -0x1.b3ea1cp-77, -0x1.4ac0ap-77, -0x1.fcdedcp-78, -0x1.8e770ep-78,
    },
    {
        0x1.f4b03ap-82, 0x1.28fc9cp-82, 0x1.71484p-83, 0x1.ddf404p-84, 0x1.403d7cp-84, 0x1.b95c4p-85, 0x1.38ee46p-85,
        0x1.c2cbbp-86, 0x1.3e7b42p-77, 0x1.97f506p-78, 0x1.0d142p-78, 0x1.69b08p-79, 0x1.f5f9fap-80, 0x1.657b94p-80,
        0x1.02c7a2p-80, 0x1.7ec40cp-81,
    },
    {
        -0x1.b58f4ap-85, -0x1.d74ee2p-86, -0x1.0c170ap-86, -0x1.3f6976p-87, -0x1.8be324p-88, -0x1.fbb038p-89,
        -0x1.4f57dap-89, -0x1.c6b65ap-90, -0x1.de24f2p-80, -0x1.1a4ab8p-80, -0x1.59a22ep-81, -0x1.b5083ap-82,
        -0x1.1c5706p-82, -0x1.7b9b92p-83, -0x1.034d9ap-83, -0x1.69af12p-84,
    },
};

}  // namespace lucid::loop::math
