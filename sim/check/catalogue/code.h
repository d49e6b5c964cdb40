#pragma once
// The codes of the checkers: a number that is not in the catalogue does not compile.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>

namespace palladion::sim::check {

// In ascending order. Their texts are in the tables beside this file; an entry without a number, or a number
// without an entry, does not compile.
inline constexpr uint16_t catalogued[] = {
    4001,  //
    4101, 4102, 4103, 4104, 4105, 4106, 4107, 4108, 4109, 4110, 4111, 4112, 4113, 4114, 4115,
    4116, 4117, 4118, 4119, 4120, 4121, 4122, 4123, 4124, 4125, 4126,  //
    4201, 4202, 4203, 4204, 4205, 4206, 4207, 4208,                    //
    4301, 4302, 4303, 4304, 4305, 4306, 4307, 4308, 4309, 4310, 4311, 4312, 4313, 4314, 4315,
    4316, 4317, 4318, 4319, 4320, 4321, 4322, 4323,                    //
    4401, 4402, 4403, 4404, 4405, 4406, 4407, 4408, 4409, 4410, 4411,  //
    4501, 4502, 4503, 4504, 4505, 4506, 4507, 4508, 4509, 4510, 4511, 4512, 4513, 4514, 4515,
    4516, 4517, 4518, 4519, 4520, 4521, 4522, 4523, 4524, 4525, 4526, 4527, 4528, 4529, 4530,  //
    4601, 4602, 4603, 4604, 4605, 4606, 4607, 4608, 4609, 4610, 4611, 4612,                    //
    4701, 4702, 4703,                                                                          //
    4801, 4802, 4803, 4804, 4805, 4806, 4807,                                                  //
    4901, 4902, 4903, 4904, 4905, 4906, 4907, 4908, 4909,                                      //
    6001, 6002, 6003, 6004, 6005, 6006, 6007,                                                  //
    6101, 6103, 6104, 6105, 6106,                                                              //
    6201, 6202, 6204,                                                                          //
    6301, 6302, 6304,                                                                          //
};

class Code {
 public:
  constexpr Code() = default;  // none
  consteval Code(int number) : number_(static_cast<uint16_t>(number)) {
    if (!std::ranges::binary_search(catalogued, number_)) throw "this code is not in the catalogue";
  }
  constexpr int number() const { return number_; }
  constexpr explicit operator bool() const { return number_ != 0; }
  std::string name() const;  // "PLD4309"
  friend constexpr auto operator<=>(Code, Code) = default;

 private:
  uint16_t number_ = 0;
};

}  // namespace palladion::sim::check
